import { z } from "zod";
import type { RecordedAnswer } from "../draft/call-meter.ts";
import { DraftError, type PartialDraft } from "../draft/draft-error.ts";
import type { DraftResult } from "../draft/drafter.ts";
import type { ModelAsk, ModelCaller } from "./model-ask.ts";

/** Failures that are answers of the model. They are not requested again, because that would cost again. */
const ANSWERS = ["MODEL_REFUSED", "MODEL_CONTENT_FILTERED", "MODEL_ANSWER_TRUNCATED"] as const;
type AnswerCode = (typeof ANSWERS)[number];

const answerCode = (error: RecordedAnswer["error"]) => ANSWERS.find((code) => code === error?.code);

/** True for a call that the model answered, also with a refusal; false when the provider failed. Pure. */
export function isAnswered({ error }: Pick<RecordedAnswer, "error">): boolean {
  return error === null || answerCode(error) !== undefined;
}

/** A recorded refusal of a model. */
class RecordedRefusalError extends DraftError<{ model: string }> {
  readonly retryable = false;
  readonly code: AnswerCode;
  constructor(code: AnswerCode, message: string, facts: { model: string }, partial: PartialDraft) {
    super(message, facts, { partial });
    this.code = code;
  }
}

/**
 * Uses the meter's recorded answer, and calls a model only without one. An answer of any of the models
 * counts, so that an answer of the fallback is not requested again from the first model.
 * @param models - the models of the caller, "provider:model"
 */
export function withRecorded(caller: ModelCaller, models: readonly string[]): ModelCaller {
  return {
    name: caller.name,
    async ask(input) {
      const recorded = input.meter?.recorded?.(input, models);
      return recorded ? replayed(recorded, input) : caller.ask(input);
    },
  };
}

/** @throws {DraftError} when a refusal was recorded */
function replayed({ error, ...answer }: RecordedAnswer, { messages, tools }: ModelAsk): DraftResult {
  const toolCalls = tools && toolCallsIn(answer.text);
  const draft: DraftResult = { ...answer, messages, ...(toolCalls ? { toolCalls } : {}) };
  const code = answerCode(error);
  if (error && code) throw new RecordedRefusalError(code, error.message, { model: answer.model }, draft);
  return draft;
}

const ToolCallsSchema = z.array(z.object({ name: z.string(), arguments: z.string() }));

/** The calls of offered tools, which are recorded as the text of the answer. */
function toolCallsIn(text: string): DraftResult["toolCalls"] {
  try {
    return ToolCallsSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
