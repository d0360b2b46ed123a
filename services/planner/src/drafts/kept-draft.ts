import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type DraftWithGaps,
  fillGaps,
  type GapValue,
  type OpenDraft,
  type ToolDescriptor,
  toFreeQuestions,
  toQuestions,
} from "@planwright/plan";
import type { PlanningStore, PlanOrigin, RequestDocument } from "@planwright/store";

/** What a request is asked, and the draft that waits for it. */
export type Asking = Parameters<PlanningStore["askQuestions"]>[1];

/** What is known of a draft that cannot be stored. */
export interface Unfinished {
  /** Present when values are all that it lacks. */
  open: OpenDraft | null;
  /** What a model asks in its own words. */
  asks: readonly string[];
  diagnostics: readonly Diagnostic[];
}

/**
 * What to ask the user: about every gap of the draft, which is kept; otherwise what the model asks, whose answer a new draft is made from. Null
 * when no answer would help. Pure.
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
    return { questions, draft: { text: JSON.stringify(open.draft), origin, questionIds } };
  }
  const inWords = asks.length > 0 ? asks : aboutMadeUpValues(diagnostics);
  return inWords.length === 0 ? null : { questions: toFreeQuestions(inWords, asked), draft: null };
}

/** So many are asked at once where each needs an answer in words. */
const MAX_IN_WORDS = 3;

/** A model that keeps making up values where no argument can be named, such as the items of a list. */
function aboutMadeUpValues(diagnostics: readonly Diagnostic[]): string[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const isMadeUp = errors.every(
    ({ code }) => code === "ARGUMENT_UNSOURCED" || code === "ARGUMENT_PLACEHOLDER",
  );
  return isMadeUp ? [...new Set(errors.map(({ message }) => message))].slice(0, MAX_IN_WORDS) : [];
}

/** The values that the user gave for the gaps of the draft that is kept; empty without one. Pure. */
export function givenValues({ draft, answers }: Pick<RequestDocument, "draft" | "answers">): GapValue[] {
  const ids = new Set(draft?.questionIds);
  return answers.flatMap(({ questionId, gives }) => (gives && ids.has(questionId) ? [gives] : []));
}

/** The draft that is kept, with the values that the user gave in its gaps, as if it had just been drafted; null without one. Pure. */
export function filledDraft(request: Pick<RequestDocument, "draft" | "answers">): DraftResult | null {
  if (!request.draft) return null;
  const draft: DraftWithGaps = JSON.parse(request.draft.text);
  return {
    text: JSON.stringify(fillGaps(draft, givenValues(request))),
    usage: { inputTokens: null, outputTokens: null },
    finishReason: null,
    latencyMs: 0,
    messages: [],
  };
}
