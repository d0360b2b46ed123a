import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type DiagnosticCode,
  type Plan,
  resolvePolicy,
  type ToolDescriptor,
} from "@planwright/plan";
import { type OpenDraft, type ReadModelAnswerOptions, readModelAnswer } from "@planwright/reading";
import type { RecordedError } from "@planwright/store";

/** The result of checking an answer. */
export type CheckedDraft =
  | { plan: Plan; diagnostics: Diagnostic[] }
  /**
   * Diagnostics that a repair may remove. `open`: the user may remove them by giving values; `asks`:
   * questions of the model.
   */
  | { plan: null; diagnostics: Diagnostic[]; open: OpenDraft | null; asks: string[] }
  /** An error that a repair could not remove. */
  | { plan: null; diagnostics: Diagnostic[]; failure: RecordedError };

/**
 * Reads an answer as a plan and validates it against the tools. Pure.
 * @param query - the user's text: values in it count as given
 * @param host - what the model may not decide; default: the default policy and limits
 */
export function checkDraft(
  draft: Pick<DraftResult, "text" | "finishReason">,
  tools: readonly ToolDescriptor[],
  query?: string,
  host: Pick<ReadModelAnswerOptions, "leftOut" | "sources" | "context" | "policy" | "limits" | "given"> = {},
): CheckedDraft {
  const { finishReason } = draft;
  // The complete policy is passed, so that the model decides no part of it.
  const answer = readModelAnswer(draft.text, {
    tools,
    query,
    finishReason,
    ...host,
    policy: host.policy ?? resolvePolicy(),
  });
  const { diagnostics } = answer;
  if (answer.ok) return { plan: answer.plan, diagnostics };
  const asks = diagnostics.flatMap(({ code, message }) => (code === "ANSWER_ASKS" ? [message] : []));
  // A repair can request the parts that an ellipsis left out. An answer that was too long would be too long
  // again.
  const failure = answer.elided ? undefined : diagnostics.map(failureOf).find((each) => each !== null);
  return failure
    ? { plan: null, diagnostics, failure }
    : { plan: null, diagnostics, open: answer.open ?? null, asks };
}

/** Errors after which the model would give the same answer again. */
const FINAL: { readonly [code in DiagnosticCode]?: (message: string) => RecordedError } = {
  ANSWER_DECLINED: (message) => ({ code: "NOT_PLANNABLE", message }),
  ANSWER_REFUSED: (message) => ({ code: "MODEL_REFUSED", message }),
  ANSWER_TRUNCATED: () => ({
    code: "MODEL_ANSWER_TRUNCATED",
    message: "The model's answer was cut off; ask for fewer steps, or raise MODEL_MAX_OUTPUT_TOKENS",
  }),
};

function failureOf({ code, message }: Diagnostic): RecordedError | null {
  return FINAL[code]?.(message) ?? null;
}

/** Code of the diagnostic for an answer that omits parts. */
export const LEFT_OUT = "ANSWER_TRUNCATED";

/** Code of the diagnostic for an answer without JSON. */
export const UNREADABLE = "PLAN_NOT_JSON";
