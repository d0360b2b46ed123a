import { countText, suggestedTools } from "@planwright/plan";
import type { ContractSuggestions } from "../api/tools.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine, printableJson } from "../terminal/visible-text.ts";
import { inlineJson } from "./format.ts";

/** The fields with their reasons, what came of asking a model, and the block for the servers file. */
export function suggestionLines(
  { server, note, tools: suggestions }: ContractSuggestions,
  count: number,
  style: Style,
): string[] {
  const shown = oneLine(server, 60);
  const said = oneLine(note, 1_000);
  if (suggestions.length === 0) {
    return [
      `No contract is suggested for the ${countText(count, "tool")} of server ${shown}: where it is not certain what a tool does, nothing is.`,
      said,
    ];
  }
  const contracts = suggestedTools(suggestions);
  const block = printableJson({ tools: contracts }, 2).split("\n").slice(1, -1);
  return [
    style(
      "strong",
      `Suggested for ${suggestions.length} of the ${countText(count, "tool")} of server ${shown}`,
    ),
    ...suggestions.flatMap(({ tool, fields }) => [`  ${oneLine(tool, 128)}`, ...fields.map(fieldLine)]),
    "",
    said,
    "",
    ...(Object.keys(contracts).length === 0
      ? ["Something speaks against every field, so there is no block for the servers file."]
      : [
          style(
            "strong",
            `To accept, put what is right into the entry of ${shown} in the servers file; nothing else is believed`,
          ),
          ...block,
        ]),
  ];
}

type Field = ContractSuggestions["tools"][number]["fields"][number];

function fieldLine({ field, value, reason, source, against }: Field): string {
  const by = source === "model" ? ", a model proposes" : "";
  const left = against === null ? "" : `; not in the block, because ${oneLine(against, 400)}`;
  return `    ${oneLine(field, 60)} ${inlineJson(value)}${by}: ${oneLine(reason, 400)}${left}`;
}

/** The same for programs: `tools` is the block for the servers file, `suggestions` has every field. */
export function suggestionJson({ server, state, note, tools: suggestions }: ContractSuggestions): object {
  const reasons = suggestions.map(({ tool, fields }) => {
    const inBlock = fields.filter(({ against }) => against === null);
    return [tool, Object.fromEntries(inBlock.map(({ field, reason }) => [field, reason]))];
  });
  return {
    server,
    state,
    note,
    tools: suggestedTools(suggestions),
    reasons: Object.fromEntries(reasons),
    suggestions,
  };
}
