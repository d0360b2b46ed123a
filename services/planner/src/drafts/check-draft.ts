import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type DiagnosticCode,
  type GapValue,
  type Plan,
  type Policy,
  parseExactJson,
  profileOptions,
  resolvePolicy,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import {
  type DraftWithGaps,
  fillGaps,
  type OpenDraft,
  type ReadModelAnswerOptions,
  readModelAnswer,
  toFreeQuestions,
  toQuestions,
} from "@planwright/reading";
import type { PlanningStore, PlanOrigin, RecordedError, RequestDocument } from "@planwright/store";

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

/**
 * The policy of a request's plan: the caller's options override the profile, and the profile overrides the
 * policy of the planner. `replannedEffects` of the planner is a limit: callers may tighten it, not loosen it.
 * Pure.
 */
export function policyOf(
  { policy: asked = {} }: Pick<RequestDocument, "policy">,
  defaults: Policy = resolvePolicy(),
): Policy {
  const policy = resolvePolicy({
    ...defaults,
    ...(asked.profile ? profileOptions(asked.profile) : {}),
    ...asked,
  });
  return { ...policy, replannedEffects: stricterEffects(policy.replannedEffects, defaults.replannedEffects) };
}

/** `run` only if all values are `run`: that of the plan and that of the operator. Pure. */
export function stricterEffects(
  ...values: readonly Policy["replannedEffects"][]
): Policy["replannedEffects"] {
  return values.every((value) => value === "run") ? "run" : "approve";
}

/** The questions to a user, and the draft that waits for the answers. */
type Asking = Parameters<PlanningStore["askQuestions"]>[1];

/** A draft that cannot be stored as a plan. */
interface Unfinished {
  /** Present when only values are missing. */
  open: OpenDraft | null;
  /** The questions that the model wrote. */
  asks: readonly string[];
  diagnostics: readonly Diagnostic[];
}

/**
 * The questions to ask the user. Every gap of an open draft becomes a question, and the draft is kept.
 * Otherwise the questions of the model are asked, and their answers lead to a new draft. Null when no answer
 * would help. Pure.
 */
export function askingOf(
  { open, asks, diagnostics }: Unfinished,
  {
    request,
    tools,
    origin,
  }: { request: RequestDocument; tools: readonly ToolDescriptor[]; origin: PlanOrigin },
): Asking | null {
  const asked = request.questionsAsked ?? 0;
  if (open) {
    const questions = toQuestions(open.gaps, { tools, asked });
    const questionIds = questions.map(({ id }) => id);
    return { questions, draft: { text: stringifyExactJson(open.draft), origin, questionIds } };
  }
  const freeQuestions = asks.length > 0 ? asks : questionsAboutMadeUpValues(diagnostics);
  return freeQuestions.length === 0
    ? null
    : { questions: toFreeQuestions(freeQuestions, asked), draft: null };
}

/** Most questions at once that are not about one argument. */
const MAX_FREE_QUESTIONS = 3;

/** Questions about made-up values that belong to no single argument, such as items of a list. */
function questionsAboutMadeUpValues(diagnostics: readonly Diagnostic[]): string[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const isMadeUp = errors.every(
    ({ code }) => code === "ARGUMENT_UNSOURCED" || code === "ARGUMENT_PLACEHOLDER",
  );
  return isMadeUp ? [...new Set(errors.map(({ message }) => message))].slice(0, MAX_FREE_QUESTIONS) : [];
}

/** The user's values for the gaps of the kept draft; empty without a draft. Pure. */
export function givenValues({ draft, answers }: Pick<RequestDocument, "draft" | "answers">): GapValue[] {
  const ids = new Set(draft?.questionIds);
  return answers.flatMap(({ questionId, gives }) => (gives && ids.has(questionId) ? [gives] : []));
}

/**
 * The kept draft with the user's values in its gaps, as if it had just been drafted; null without a draft.
 * Pure.
 */
export function filledDraft(request: Pick<RequestDocument, "draft" | "answers">): DraftResult | null {
  if (!request.draft) return null;
  const draft = parseExactJson(request.draft.text) as unknown as DraftWithGaps;
  return {
    text: stringifyExactJson(fillGaps(draft, givenValues(request))),
    usage: { inputTokens: null, outputTokens: null },
    finishReason: null,
    latencyMs: 0,
    messages: [],
  };
}
