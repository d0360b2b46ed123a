import { setTimeout as wait } from "node:timers/promises";
import type { AnswerForm, Chat } from "../chat/chat.ts";
import { shownUrl } from "../chat/checked-fetch.ts";
import type { AnswerSchema } from "../draft/asked.ts";
import { DraftError } from "../draft/draft-error.ts";
import type { DraftResult } from "../draft/drafter.ts";
import { ModelError } from "../draft/model-error.ts";
import { baseUrlVariable } from "../draft/model-variables.ts";
import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import { addressOf, missingVariable, openChat } from "../settings/provider-access.ts";
import type { ModelAsk } from "./model-ask.ts";
import { emptyDraft } from "./read-answer.ts";
import { retryWaitMs } from "./retry-wait.ts";
import type { Slots } from "./slots.ts";
import { isFormRefused } from "./to-model-error.ts";
import { tryOnce } from "./try-once.ts";

/** One model of one provider, with retries. */
export interface OneModel {
  /** "provider:model". */
  readonly name: string;
  /** @param fallbackFor - code of the failure that made this fallback necessary; null for the first model */
  ask(input: ModelAsk, fallbackFor: string | null): Promise<DraftResult>;
}

/** Dependencies of one model. */
export interface OneModelDependencies {
  named: NamedModel;
  settings: ModelSettings;
  /** The slots of its provider. */
  slots: Slots;
  /** Waits for a time, or until the signal aborts. @throws the signal's reason. Default: a timer */
  waitFor?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Creates one model. @throws {ModelError} with MODEL_KEY_MISSING */
export function createOneModel({
  named,
  settings,
  slots,
  waitFor = byClock,
}: OneModelDependencies): OneModel {
  const { name } = named;
  const variable = missingVariable(named.provider, settings);
  const address = addressOf(named.provider, settings);
  if (variable !== null || address === undefined)
    throw new ModelError("MODEL_KEY_MISSING", {
      model: name,
      variable: variable ?? baseUrlVariable(named.provider),
    });
  const timeoutMs = settings.MODEL_TIMEOUT_MS;
  const maxOutputTokens = settings.MODEL_MAX_OUTPUT_TOKENS;
  const target = { name, url: shownUrl(address), timeoutMs, maxOutputTokens };
  let opened: Promise<Chat> | null = null;
  /** Answer forms that the server has refused; they are not requested again. */
  const refusedForms = new Set<AnswerForm>();

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
        const release = await slots.acquire(input.signal, input.meter?.tenant);
        // The time limit starts with the first try, so time spent waiting for a slot does not count.
        limit ??= AbortSignal.timeout(timeoutMs);
        endsAt ||= performance.now() + timeoutMs;
        const form = formFor(chat, input.schema, refusedForms);
        const outcome = await tryOnce(chat, input, { ...target, form, attempt, limit, fallbackFor }).finally(
          release,
        );
        if (!(outcome instanceof DraftError)) return outcome;
        if (form !== "text" && isFormRefused(outcome, form)) {
          refusedForms.add(form);
          continue;
        }
        retries += 1;
        const waitMs = retryWaitMs(outcome, retries, Math.random());
        const maxWaitMs = input.meter?.maxWaitMs ?? Number.POSITIVE_INFINITY;
        const isLast = waitMs === null || waitMs >= maxWaitMs || retries > settings.MODEL_MAX_RETRIES;
        if (isLast || performance.now() + waitMs >= endsAt) throw outcome;
        await waitFor(waitMs, input.signal);
      }
    },
  };
}

/** @throws the signal's reason */
async function byClock(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

const formFor = (
  chat: Chat,
  schema: AnswerSchema | undefined,
  refused: ReadonlySet<AnswerForm>,
): AnswerForm => (schema ? (chat.forms.find((form) => !refused.has(form)) ?? "text") : "text");
