import type { AnswerForm, Chat } from "../chat/chat.ts";
import type { DraftError } from "../draft/draft-error.ts";
import type { DraftResult } from "../draft/drafter.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import type { ModelAsk } from "./model-ask.ts";
import { emptyDraft, readAnswer } from "./read-answer.ts";
import { spentOf, toModelError } from "./to-model-error.ts";

/** Options of one try. */
export interface Try {
  /** "provider:model". */
  name: string;
  /** The address of the server, as errors may show it. */
  url: string;
  timeoutMs: number;
  maxOutputTokens: number;
  form: AnswerForm;
  attempt: number;
  /** Ends the call at its time limit. */
  limit: AbortSignal;
  fallbackFor: string | null;
}

/**
 * One try: the meter allows it, it is sent, and the meter records its end. A failure of the model is
 * returned, not thrown.
 * @throws the meter's errors; the reason of the caller's signal
 */
export async function tryOnce(chat: Chat, input: ModelAsk, call: Try): Promise<DraftResult | DraftError> {
  const { name, url, timeoutMs } = call;
  const draft = emptyDraft(name, input.messages);
  const openCall = await input.meter?.begin({
    model: name,
    messages: input.messages,
    schema: input.schema,
    tools: input.tools,
    promptTokens: estimatePrompt(input),
    maxOutputTokens: call.maxOutputTokens,
    attempt: call.attempt,
    fallbackFor: call.fallbackFor,
  });
  const startedAt = performance.now();
  let failure: DraftError | null = null;
  try {
    const signal = AbortSignal.any([input.signal, call.limit]);
    const options = { signal, form: call.form, schema: input.schema, tools: input.tools };
    await readAnswer(chat, draft, options, (text) => openCall?.arrived?.(text));
  } catch (error) {
    failure = toModelError(error, {
      model: name,
      url,
      timeoutMs,
      isOverdue: call.limit.aborted,
      partial: draft,
    });
  }
  draft.latencyMs = Math.round(performance.now() - startedAt);
  const { text, usage, finishReason, latencyMs } = draft;
  const error = input.signal.aborted ? ABORTED : failure && { code: failure.code, message: failure.message };
  const spent = failure ? spentOf(failure) : "complete";
  await openCall?.end({ text, usage, finishReason, latencyMs, error, spent });
  input.signal.throwIfAborted();
  return failure ?? draft;
}

/** The recorded error of a call that its caller aborted. */
const ABORTED = {
  code: "CALL_ABORTED",
  message: "The call was aborted: its planner stopped, or lost the request to another planner",
};

/** Tokens that one message costs in addition to its text. */
const TOKENS_OF_MESSAGE = 8;

function estimatePrompt({ messages, schema, tools }: ModelAsk): number {
  const texts = messages.map(({ content }) => estimateTokens(content) + TOKENS_OF_MESSAGE);
  const form = estimateTokens(JSON.stringify(schema ?? tools ?? ""));
  return texts.reduce((sum, tokens) => sum + tokens, form);
}
