import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import {
  BothModelsFailedError,
  baseUrlVariable,
  DraftError,
  type DraftErrorCode,
  ModelError,
  type PartialDraft,
} from "../draft/draft-error.ts";
import type {
  AnswerSchema,
  CallMeter,
  DraftResult,
  OfferedTool,
  RecordedAnswer,
  SentMessage,
} from "../draft/drafter.ts";
import { estimateTokens } from "../prompts/prompt-budget.ts";
import type { AnswerForm, Chat } from "../providers/chat.ts";
import { shownUrl } from "../providers/checked-fetch.ts";
import { endingOf, type Provider } from "../providers/registry.ts";
import {
  addressOf,
  type ModelSettings,
  missingVariable,
  type NamedModel,
  openChat,
  parseFallbackSetting,
} from "./model-setting.ts";
import { isFormRefused, retryWaitMs, spentOf, toModelError } from "./to-model-error.ts";

/**
 * A caller for a model and `FALLBACK_MODEL`. The library of a provider is loaded at its first call.
 * @throws {ModelError} with MODEL_KEY_MISSING
 */
export function createCaller(first: NamedModel, settings: ModelSettings): ModelCaller {
  const slotsOf = slotsByProvider(settings.MODEL_MAX_CONCURRENCY);
  const open = (model: NamedModel): OneModel =>
    createOneModel({ named: model, settings, slots: slotsOf(model.provider) });
  const firstModel = open(first);
  const fallback = settings.FALLBACK_MODEL;
  if (fallback === undefined) {
    return withRecorded({ name: first.name, ask: (asked) => firstModel.ask(asked, null) }, [first.name]);
  }
  const second = open(parseFallbackSetting(fallback));
  return withRecorded(withFallback(firstModel, second), [first.name, second.name]);
}

/** Gives all models of a provider the same slots. */
function slotsByProvider(size: number): (provider: Provider) => Slots {
  const slots = new Map<Provider, Slots>();
  return (provider) => {
    const known = slots.get(provider) ?? createSlots(size);
    slots.set(provider, known);
    return known;
  };
}

/**
 * Failures of the provider, not of the request: it cannot be reached, keeps failing or takes too long,
 * refuses the key, has no credit left, does not know the model, or is not at its address. Then the fallback
 * is called. A request that a model declined, filtered or answered badly is not sent to the fallback.
 */
const FALLBACK_CODES: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_UNREACHABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_UNAUTHORIZED",
  "MODEL_QUOTA_EXHAUSTED",
  "MODEL_NOT_FOUND",
  "MODEL_ENDPOINT_WRONG",
]);

const isUnavailable = (error: unknown): error is DraftError =>
  error instanceof DraftError && FALLBACK_CODES.has(error.code);

/**
 * Calls the first model, and the second when the first is not available. When neither is, the error has both
 * reasons.
 */
function withFallback(first: OneModel, second: OneModel): ModelCaller {
  return {
    name: first.name,
    async ask(input) {
      try {
        return await first.ask(input, null);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        try {
          return await second.ask(input, error.code);
        } catch (again) {
          throw isUnavailable(again) ? new BothModelsFailedError(error, again) : again;
        }
      }
    },
  };
}

/** One model of one provider, with retries. */
interface OneModel {
  /** "provider:model". */
  readonly name: string;
  /** @param fallbackFor - code of the failure that made this fallback necessary; null for the first model */
  ask(input: ModelAsk, fallbackFor: string | null): Promise<DraftResult>;
}

/** Dependencies of one model. */
interface OneModelDependencies {
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
        // It would be recorded as a call that was sent, and what it cost would be unknown.
        if (limit.aborted) {
          release();
          const { url } = target;
          const partial = emptyDraft(name, input.messages);
          throw new ModelError("MODEL_TIMEOUT", { model: name, url, timeoutMs }, { partial });
        }
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

/** Options of one try. */
interface Try {
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
async function tryOnce(chat: Chat, input: ModelAsk, call: Try): Promise<DraftResult | DraftError> {
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
  let isSent = false;
  try {
    const signal = AbortSignal.any([input.signal, call.limit]);
    // The call may have been aborted while the meter allowed it.
    signal.throwIfAborted();
    isSent = true;
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
  const spent = !isSent ? "none" : failure ? spentOf(failure) : "complete";
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

/** Maximum length of an answer that is kept; a plan is at most 1 MiB. */
const MAX_ANSWER = 1_048_576;

/** A draft before the first byte of its answer. */
const emptyDraft = (model: string, messages: SentMessage[]): DraftResult => ({
  text: "",
  usage: { inputTokens: null, outputTokens: null, cachedInputTokens: null },
  finishReason: null,
  latencyMs: 0,
  messages,
  model,
});

/**
 * Reads a stream to its end into `draft`, so that the text before a failure is not lost.
 * @param arrived - called with all the text so far, each time that more of it came
 * @throws {ModelError} with MODEL_REFUSED, MODEL_ANSWER_TRUNCATED or MODEL_CONTENT_FILTERED by the provider's
 * finish reason; with MODEL_UNREACHABLE for an answer that was cut; errors of the provider's library
 */
async function readAnswer(
  chat: Chat,
  draft: DraftResult,
  options: Parameters<Chat["stream"]>[1],
  arrived?: (text: string) => void,
): Promise<void> {
  let refusal = "";
  let toolArguments = "";
  const calls = new Map<number, { name: string; arguments: string }>();
  for await (const chunk of chat.stream(draft.messages, options)) {
    toolArguments += chunk.toolArguments;
    for (const piece of options.tools ? (chunk.toolCalls ?? []) : []) {
      const call = calls.get(piece.index) ?? { name: "", arguments: "" };
      calls.set(piece.index, { name: call.name + piece.name, arguments: call.arguments + piece.arguments });
    }
    draft.text += chunk.text;
    if (chunk.text !== "" || chunk.toolArguments !== "") arrived?.(draft.text || toolArguments);
    refusal += chunk.refusal ?? "";
    draft.finishReason = chunk.finishReason ?? draft.finishReason;
    draft.usage = {
      inputTokens: sum(draft.usage.inputTokens, chunk.inputTokens),
      outputTokens: sum(draft.usage.outputTokens, chunk.outputTokens),
      cachedInputTokens: sum(draft.usage.cachedInputTokens ?? null, chunk.cachedInputTokens),
    };
    if (draft.text.length + toolArguments.length > MAX_ANSWER) {
      draft.finishReason = "length";
      break;
    }
  }
  // Some libraries end an aborted stream as if it were complete.
  options.signal.throwIfAborted();
  if (calls.size > 0) draft.toolCalls = [...calls.values()];
  if (draft.toolCalls) draft.text = JSON.stringify(draft.toolCalls);
  else if (toolArguments !== "") draft.text = toolArguments;
  if (refusal !== "") throw refused(refusal, draft);
  checkEnd(draft);
}

const sum = (before: number | null, more: number | undefined) =>
  more === undefined ? before : (before ?? 0) + more;

const refused = (refusal: string, draft: DraftResult) =>
  new ModelError(
    "MODEL_REFUSED",
    { model: modelOf(draft), refusal: refusal.slice(0, 500) },
    { partial: draft },
  );

const modelOf = ({ model }: DraftResult) => model ?? "the model";

/**
 * Checks the provider's finish reason before the text is used. Without a finish reason, an answer that is not
 * JSON was cut.
 */
function checkEnd(draft: DraftResult): void {
  const facts = { model: modelOf(draft) };
  const options: { partial: PartialDraft } = { partial: draft };
  if (draft.finishReason === null) {
    if (isJson(draft.text)) return;
    throw new ModelError(
      "MODEL_UNREACHABLE",
      { ...facts, status: null, retryAfterMs: null, isCut: true },
      options,
    );
  }
  const ending = endingOf(draft.finishReason);
  if (ending === "MODEL_REFUSED") throw refused(draft.text || "no reason given", draft);
  if (ending !== undefined) throw new ModelError(ending, facts, options);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** A semaphore: a limited number of slots, shared among tenants. */
interface Slots {
  /**
   * Waits for a slot. The returned function releases it and is called once. A free slot goes to the waiting
   * tenant that holds the fewest, and of several calls to the one that asked first.
   * @param tenant - default: all callers without a tenant count as one
   * @throws the signal's reason
   */
  acquire(signal: AbortSignal, tenant?: string): Promise<() => void>;
}

/** @param size - number of slots, at least 1 */
export function createSlots(size: number): Slots {
  let free = size;
  const held = new Map<string, number>();
  const waiting = new Set<{ tenant: string; take: () => void }>();
  const holds = (tenant: string): number => held.get(tenant) ?? 0;

  function slotOf(tenant: string): () => void {
    free -= 1;
    held.set(tenant, holds(tenant) + 1);
    return () => {
      free += 1;
      if (holds(tenant) > 1) held.set(tenant, holds(tenant) - 1);
      else held.delete(tenant);
      const [next] = [...waiting].toSorted((one, other) => holds(one.tenant) - holds(other.tenant));
      next?.take();
    };
  }

  return {
    async acquire(signal, tenant = "") {
      signal.throwIfAborted();
      if (free > 0) return slotOf(tenant);
      return new Promise((resolve, reject) => {
        const waiter = {
          tenant,
          take() {
            waiting.delete(waiter);
            signal.removeEventListener("abort", refuse);
            resolve(slotOf(tenant));
          },
        };
        const refuse = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        waiting.add(waiter);
        signal.addEventListener("abort", refuse, { once: true });
      });
    },
  };
}

/** One question to a model. */
interface ModelAsk {
  /** System message first. */
  messages: SentMessage[];
  /** The schema of the answer, for providers that support schemas. The answer is still raw text. */
  schema?: AnswerSchema | undefined;
  /**
   * Tools that the model may call instead of answering; never together with a `schema`. A provider without
   * tool calling is not called.
   */
  tools?: readonly OfferedTool[] | undefined;
  /** Called before every call is sent; it may refuse the call. */
  meter?: CallMeter | undefined;
  signal: AbortSignal;
}

/** A chat model, with the retries, limits and the fallback of the settings. */
export interface ModelCaller {
  /** "provider:model" of the first model. */
  readonly name: string;
  /**
   * Returns one answer; its `model` is the model that answered.
   * @throws {DraftError} with everything that was sent and received; the meter's errors; the signal's reason
   */
  ask(input: ModelAsk): Promise<DraftResult>;
}

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
function withRecorded(caller: ModelCaller, models: readonly string[]): ModelCaller {
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
