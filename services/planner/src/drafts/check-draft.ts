import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type DiagnosticCode,
  type OpenDraft,
  type Plan,
  type ReadModelAnswerOptions,
  readModelAnswer,
  resolvePolicy,
  type ToolDescriptor,
} from "@planwright/plan";
import type { RecordedError } from "@planwright/store";

/** What an answer turned out to be. */
export type CheckedDraft =
  | { plan: Plan; diagnostics: Diagnostic[] }
  /** Diagnostics that a repair may take away. `open`: so may the user, by giving values; `asks`: what the model asks for. */
  | { plan: null; diagnostics: Diagnostic[]; open: OpenDraft | null; asks: string[] }
  /** Nothing that a repair could change. */
  | { plan: null; diagnostics: Diagnostic[]; failure: RecordedError };

/**
 * Reads an answer as a plan and validates it against the tools. Pure.
 * @param query - what was asked for: its values are not invented
 * @param host - what is not the model's to say; default: the default policy and limits
 */
export function checkDraft(
  draft: Pick<DraftResult, "text" | "finishReason">,
  tools: readonly ToolDescriptor[],
  query?: string,
  host: Pick<ReadModelAnswerOptions, "sources" | "context" | "policy" | "limits" | "given"> = {},
): CheckedDraft {
  const { finishReason } = draft;
  // Complete, so that nothing of the model's own choosing is left: policies are filled in by code.
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
  // What an ellipsis stands for can be asked for; what did not fit into the answer would not fit again.
  const failure = answer.elided ? undefined : diagnostics.map(failureOf).find((each) => each !== null);
  return failure
    ? { plan: null, diagnostics, failure }
    : { plan: null, diagnostics, open: answer.open ?? null, asks };
}

/** What the model would answer again, however it is told. */
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

/** Code of the finding that an answer stands for more than it says. */
export const LEFT_OUT = "ANSWER_TRUNCATED";

/** Code of the finding that an answer holds no JSON. */
export const UNREADABLE = "PLAN_NOT_JSON";
