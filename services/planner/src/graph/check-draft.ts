import { type DraftResult, readAnswer } from "@planwright/models";
import { type Diagnostic, type Plan, parsePlan, resolvePolicy, type ToolDescriptor } from "@planwright/plan";
import type { RecordedError } from "@planwright/store";

/** What an answer turned out to be. */
export type CheckedDraft =
  | { plan: Plan; diagnostics: Diagnostic[] }
  /** Findings that a repair may take away. */
  | { plan: null; diagnostics: Diagnostic[] }
  /** Nothing that a repair could change. */
  | { plan: null; diagnostics: Diagnostic[]; failure: RecordedError };

/** Reads an answer as a plan and validates it against the tools. Pure. */
export function checkDraft(
  draft: Pick<DraftResult, "text" | "finishReason">,
  tools: readonly ToolDescriptor[],
): CheckedDraft {
  const answer = readAnswer(draft.text, { finishReason: draft.finishReason });
  if (!answer.ok) return unreadDraft(answer.reason, answer.message);
  // Complete, so that nothing of the model's own choosing is left: policies are filled in by code.
  const read = parsePlan(answer.value, { tools: [...tools], policy: resolvePolicy() });
  const { diagnostics } = read;
  return read.ok ? { plan: read.plan, diagnostics } : { plan: null, diagnostics };
}

function unreadDraft(reason: "declined" | "truncated" | "unreadable", message: string): CheckedDraft {
  switch (reason) {
    case "declined":
      return {
        plan: null,
        diagnostics: [],
        failure: { code: "NOT_PLANNABLE", message: `The model cannot plan this: ${message}` },
      };
    case "truncated":
      return {
        plan: null,
        diagnostics: [],
        failure: {
          code: "MODEL_ANSWER_TRUNCATED",
          message: "The model's answer was cut off; ask for fewer steps, or raise MODEL_MAX_OUTPUT_TOKENS",
        },
      };
    case "unreadable":
      return {
        plan: null,
        diagnostics: [
          {
            code: UNREADABLE,
            severity: "error",
            message: `The answer could not be read as a plan: ${message}. Answer with one JSON object {"steps":[...]} and nothing else.`,
          },
        ],
      };
  }
}

/** Code of the finding that an answer holds no JSON. */
export const UNREADABLE = "PLAN_NOT_JSON";
