import type { DraftInput } from "../drafter.ts";
import type { SentMessage } from "../sent-message.ts";
import { cleanText, dataText } from "./clean-text.ts";
import { describeTools } from "./describe-tools.ts";
import { REPLAN_RULES, replanText } from "./replan-prompt.ts";
import { SYSTEM_PROMPT } from "./system-prompt.ts";

const MAX_QUERY = 20_000;
const MAX_PREVIOUS = 60_000;
const MAX_DIAGNOSTICS = 30;
const MAX_MESSAGE = 500;

/** Messages that ask for a plan; with `replan` also what became of the plan before it; with `repair` also the last answer and exactly what is wrong with it. */
export function draftMessages({
  query,
  tools,
  repair,
  replan,
}: Pick<DraftInput, "query" | "tools" | "repair" | "replan">): SentMessage[] {
  const rules = replan ? `${SYSTEM_PROMPT}\n\n${REPLAN_RULES}` : SYSTEM_PROMPT;
  const request = `<request>\n${dataText(query.slice(0, MAX_QUERY))}\n</request>`;
  const data = [
    `<tools>\n${describeTools(tools)}\n</tools>`,
    request,
    ...(replan ? [replanText(replan)] : []),
  ];
  const asked: SentMessage[] = [
    { role: "system", content: rules },
    { role: "user", content: data.join("\n") },
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
