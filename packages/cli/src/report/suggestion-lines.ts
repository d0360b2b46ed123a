import { countText, suggestedTools, suggestForServer } from "@planwright/plan";
import type { ExplainedTool } from "../api/tools.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine, printableJson } from "../terminal/visible-text.ts";
import { inlineJson } from "./format.ts";

/** The fields with their reasons, and the block for the servers file. */
export function suggestionLines(server: string, tools: readonly ExplainedTool[], style: Style): string[] {
  const suggestions = suggestForServer(tools, server);
  const shown = oneLine(server, 60);
  if (suggestions.length === 0) {
    return [
      `No contract is suggested for the ${countText(tools.length, "tool")} of server ${shown}: where it is not certain what a tool does, nothing is.`,
    ];
  }
  const block = printableJson({ tools: suggestedTools(suggestions) }, 2)
    .split("\n")
    .slice(1, -1);
  return [
    style(
      "strong",
      `Suggested for ${suggestions.length} of the ${countText(tools.length, "tool")} of server ${shown}`,
    ),
    ...suggestions.flatMap(({ tool, fields }) => [
      `  ${oneLine(tool, 128)}`,
      ...fields.map(
        ({ field, value, reason }) => `    ${field} ${inlineJson(value)}: ${oneLine(reason, 400)}`,
      ),
    ]),
    "",
    style(
      "strong",
      `To accept, put what is right into the entry of ${shown} in the servers file; nothing else is believed`,
    ),
    ...block,
  ];
}

/** The same for programs: `tools` is the block for the servers file. */
export function suggestionJson(server: string, tools: readonly ExplainedTool[]): object {
  const suggestions = suggestForServer(tools, server);
  const reasons = suggestions.map(({ tool, fields }) => [
    tool,
    Object.fromEntries(fields.map(({ field, reason }) => [field, reason])),
  ]);
  return { server, tools: suggestedTools(suggestions), reasons: Object.fromEntries(reasons) };
}
