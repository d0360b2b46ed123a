import { setTimeout as wait } from "node:timers/promises";
import type { AnswerForm, Chat } from "../chat/chat.ts";
import { shownUrl } from "../chat/checked-fetch.ts";
import type { AnswerSchema } from "../draft/asked.ts";
import { DraftError } from "../draft/draft-error.ts";
import type { DraftResult } from "../draft/drafter.ts";
import { ModelError } from "../draft/model-error.ts";
import { baseUrlVariable } from "../draft/model-variables.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import { addressOf, missingVariable, openChat } from "../settings/provider-access.ts";
import type { ModelAsk } from "./model-ask.ts";
import { emptyDraft, readAnswer } from "./read-answer.ts";
import { retryWaitMs } from "./retry-wait.ts";
import type { Slots } from "./slots.ts";
import { isFormRefused, spentOf, toModelError } from "./to-model-error.ts";

/** One model of one provider, with retries. */
export interface OneModel {
  /** "provider:model". */
  readonly name: string;
  /** @param fallbackFor - code of the failure for which this model stands in */
  ask(input: ModelAsk, fallbackFor: string | null): Promise<DraftResult>;
}

/** What one model is made of. */
export interface OneModelParts {
  named: NamedModel;
  settings: ModelSettings;
  /** Those of its provider. */
  slots: Slots;
  /** Waits so many milliseconds, or until the signal aborts. @throws the signal's reason. Default: by the clock */
  waitFor?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** @throws {ModelError} with MODEL_KEY_MISSING, at once */
export function createOneModel({ named, settings, slots, waitFor = byClock }: OneModelParts): OneModel {
  const { name } = named;
  const variable = missingVariable(named.provider, settings);
  const address = addressOf(named.provider, settings);
  if (variable !== null || address === undefined)
    throw new ModelError("MODEL_KEY_MISSING", {
      model: name,
      variable: variable ?? baseUrlVariable(named.provider),
    });
  const timeoutMs = settings.MODEL_TIMEOUT_MS;
  const url = shownUrl(address);
  let opened: Promise<Chat> | null = null;
  /** Forms that the server has refused; it is not asked for them again. */
  const refusedForms = new Set<AnswerForm>();

  /** One try: allowed by the meter, sent, and accounted for, however it ends. A failure of the model is given back, not thrown. */
  const tryOnce = async (chat: Chat, input: ModelAsk, call: Try): Promise<DraftResult | DraftError> => {
    const draft = emptyDraft(name, input.messages);
    const open = await input.meter?.begin({
      model: name,
      messages: input.messages,
      schema: input.schema,
      tools: input.tools,
      promptTokens: estimatePrompt(input),
      maxOutputTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
      attempt: call.attempt,
      fallbackFor: call.fallbackFor,
    });
    const startedAt = performance.now();
    let failure: DraftError | null = null;
    try {
      const signal = AbortSignal.any([input.signal, call.limit]);
      await readAnswer(chat, draft, { signal, form: call.form, schema: input.schema, tools: input.tools });
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
    const error = input.signal.aborted
      ? ABORTED
      : failure && { code: failure.code, message: failure.message };
    const spent = failure ? spentOf(failure) : "complete";
    await open?.end({ text, usage, finishReason, latencyMs, error, spent });
    input.signal.throwIfAborted();
    return failure ?? draft;
  };

  return {
    name,
    async ask(input, fallbackFor) {
      opened ??= openChat(named, address, settings);
      const chat = await opened;
      if (input.tools && !chat.takesTools) return emptyDraft(name, input.messages);
      let limit: AbortSignal | null = null;
      let endsAt = 0;
      let retries = 0;
      for (let attempt = 1; ; attempt += 1) {
        const release = await slots.acquire(input.signal);
        // Waiting for a place is not the provider's slowness: the clock starts with the first try.
        limit ??= AbortSignal.timeout(timeoutMs);
        endsAt ||= performance.now() + timeoutMs;
        const form = formFor(chat, input.schema, refusedForms);
        const outcome = await tryOnce(chat, input, { form, attempt, limit, fallbackFor }).finally(release);
        if (!(outcome instanceof DraftError)) return outcome;
        if (form !== "text" && isFormRefused(outcome, form)) {
          refusedForms.add(form);
          continue;
        }
        retries += 1;
        const waitMs = retryWaitMs(outcome, retries, Math.random());
        const isLast = waitMs === null || retries > settings.MODEL_MAX_RETRIES;
        if (isLast || performance.now() + waitMs >= endsAt) throw outcome;
        await waitFor(waitMs, input.signal);
      }
    },
  };
}

/** What is recorded of a call that its caller gave up. */
const ABORTED = {
  code: "CALL_ABORTED",
  message: "The call was given up: its planner stopped, or lost the request to another planner",
};

/** @throws the signal's reason */
async function byClock(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

interface Try {
  form: AnswerForm;
  attempt: number;
  /** Ends the call when its time is over. */
  limit: AbortSignal;
  fallbackFor: string | null;
}

const formFor = (
  chat: Chat,
  schema: AnswerSchema | undefined,
  refused: ReadonlySet<AnswerForm>,
): AnswerForm => (schema ? (chat.forms.find((form) => !refused.has(form)) ?? "text") : "text");

/** Tokens that one message costs beside its text. */
const TOKENS_OF_MESSAGE = 8;

function estimatePrompt({ messages, schema, tools }: ModelAsk): number {
  const texts = messages.map(({ content }) => estimateTokens(content) + TOKENS_OF_MESSAGE);
  const form = estimateTokens(JSON.stringify(schema ?? tools ?? ""));
  return texts.reduce((sum, tokens) => sum + tokens, form);
}
