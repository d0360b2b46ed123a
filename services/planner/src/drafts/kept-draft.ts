import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type GapValue,
  parseExactJson,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import {
  type DraftWithGaps,
  fillGaps,
  type OpenDraft,
  toFreeQuestions,
  toQuestions,
} from "@planwright/reading";
import type { PlanningStore, PlanOrigin, RequestDocument } from "@planwright/store";

/** The questions to a user, and the draft that waits for the answers. */
export type Asking = Parameters<PlanningStore["askQuestions"]>[1];

/** A draft that cannot be stored as a plan. */
export interface Unfinished {
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
