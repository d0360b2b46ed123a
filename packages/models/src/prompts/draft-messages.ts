import type { DraftInput, SentMessage } from "../drafter.ts";
import { cleanText, dataText } from "./clean-text.ts";
import { describeTools } from "./describe-tools.ts";
import { SYSTEM_PROMPT } from "./system-prompt.ts";

const MAX_QUERY = 20_000;
const MAX_PREVIOUS = 60_000;
const MAX_DIAGNOSTICS = 30;
const MAX_MESSAGE = 500;

/** Messages that ask for a plan; with `repair` also the last answer and exactly what is wrong with it. */
export function draftMessages({
  query,
  tools,
  repair,
}: Pick<DraftInput, "query" | "tools" | "repair">): SentMessage[] {
  const asked: SentMessage[] = [
    { role: "system", content: SYSTEM_PROMPT },
    {
      role: "user",
      content: `<tools>\n${describeTools(tools)}\n</tools>\n<request>\n${dataText(query.slice(0, MAX_QUERY))}\n</request>`,
    },
  ];
  if (!repair) return asked;
  return [
    ...asked,
    { role: "assistant", content: repair.previous.slice(0, MAX_PREVIOUS) },
    { role: "user", content: repairText(repair.diagnostics) },
  ];
}

function repairText(diagnostics: NonNullable<DraftInput["repair"]>["diagnostics"]): string {
  const findings = diagnostics
    .slice(0, MAX_DIAGNOSTICS)
    .map(({ code, stepId, path, message, suggestion }) => ({
      code,
      ...(stepId === undefined ? {} : { stepId: cleanText(stepId, 64) }),
      ...(path === undefined ? {} : { path: cleanText(path, 200) }),
      message: cleanText(message, MAX_MESSAGE),
      ...(suggestion === undefined ? {} : { suggestion: cleanText(suggestion, 200) }),
    }));
  const lines = findings.map((finding) => dataText(finding)).join("\n");
  return `The plan cannot run. Findings:\n${lines}\nAnswer with the whole corrected plan as one JSON object and nothing else.`;
}
