import {
  type Asked,
  awayForMs,
  BudgetExceededError,
  type CallEnd,
  type CallMeter,
  type CallToCome,
  costUsd,
  DraftError,
  type Drafter,
  type DraftResult,
  estimateTokens,
  isAnswered,
  type ModelPrice,
  ModelUnpricedError,
  modelPauseMs,
  type PriceList,
  type RecordedAnswer,
} from "@planwright/models";
import { CodedError, canonicalDigest } from "@planwright/plan";
import type { PartialAnswerWriter } from "@planwright/queue";
import { redactText } from "@planwright/runtime";
import type {
  EndedModelCall,
  ModelCallBegin,
  ModelCallDocument,
  ModelCallEnd,
  ModelSpending,
  ModelWait,
  PlanningClaim,
  PlanningStore,
  RecordedError,
  RequestDocument,
} from "@planwright/store";
import { type ModelMetrics, NO_MODEL_METRICS } from "./model-metrics.ts";

/** What calls are made for: the claim of a request, or a question about contracts. */
interface MeteredWork extends Pick<PlanningClaim, "earlierCalls"> {
  request: Pick<RequestDocument, "tenant" | "modelLimits"> & {
    planning: Pick<RequestDocument["planning"], "wait">;
  };
}

/** Dependencies of {@link createCallMeter}. */
export interface CallMeterParts<
  Work extends MeteredWork = PlanningClaim,
  Purpose extends ModelCallDocument["purpose"] = ModelCallBegin["purpose"],
> {
  store: Pick<PlanningStore, "endModelCall"> & {
    beginModelCall(
      work: Work,
      call: Omit<ModelCallBegin, "purpose"> & { purpose: Purpose },
    ): ReturnType<PlanningStore["beginModelCall"]>;
  };
  prices: PriceList;
  /** Default: nothing is counted. */
  metrics?: ModelMetrics | undefined;
  /** Shows answers while they arrive. Default: they are shown when they are complete. */
  partialAnswers?: Pick<PartialAnswerWriter, "open"> | undefined;
  /** Called when the recorded answer of an earlier planner is used instead of a call. */
  onReuse?: ((work: Work, call: { purpose: Purpose; model: string }) => void) | undefined;
}

/**
 * Records every model call of its work, and allows no call that might exceed the limits of that. When an earlier claim
 * got an answer to the same question, that answer is used, and nothing is sent, recorded or counted.
 * @throws {BudgetExceededError | ModelUnpricedError | LeaseLostError} from `begin`; then nothing was sent
 */
export function createCallMeter<Work extends MeteredWork, Purpose extends ModelCallDocument["purpose"]>(
  { store, prices, metrics = NO_MODEL_METRICS, partialAnswers, onReuse }: CallMeterParts<Work, Purpose>,
  work: Work,
  purpose: Purpose,
): CallMeter {
  return {
    tenant: work.request.tenant,
    // Once a model is away, every try is followed by a wait that holds no planner.
    maxWaitMs: work.request.planning.wait ? 0 : LONGEST_WAIT_MS,
    recorded(asked, models) {
      if (work.earlierCalls.length === 0) return null;
      const answer = takeAnswer(work, { purpose, askDigest: askDigest(asked, keptMessages(asked)), models });
      if (answer) onReuse?.(work, { purpose, model: answer.model });
      return answer;
    },
    async begin(call) {
      const { model, attempt, fallbackFor } = call;
      const price = prices.priceOf(model);
      const maxCostUsd = work.request.modelLimits?.maxCostUsd ?? null;
      if (price === null && maxCostUsd !== null) throw new ModelUnpricedError({ model, maxCostUsd });
      const reserved: ModelSpending = {
        modelCalls: 1,
        tokens: call.promptTokens + call.maxOutputTokens,
        costUsd: price === null ? 0 : costUsd(price, largestUsage(call)),
      };
      const messages = keptMessages(call);
      const begun = await store.beginModelCall(work, {
        purpose,
        model,
        messages,
        askDigest: askDigest(call, messages),
        attempt,
        fallbackFor,
        reserved,
      });
      if (begun.type === "exceeded") {
        const { limit, max, used, needed } = begun;
        throw new BudgetExceededError({ limit, max, used, needed, model });
      }
      if (purpose === "repair" && attempt === 1 && fallbackFor === null) metrics.repaired();
      const partial = partialAnswers?.open(begun.callId);
      return {
        arrived: (text) => partial?.arrived(text),
        end: (outcome) => {
          const settled = settledCall(outcome, { call, price, reserved });
          metrics.called(model, settled);
          return store.endModelCall(begun.callId, settled);
        },
      };
    },
  };
}

/** Longer waits release the request. */
const LONGEST_WAIT_MS = 5_000;

const largestUsage = ({ promptTokens, maxOutputTokens }: CallToCome) => ({
  inputTokens: promptTokens,
  outputTokens: maxOutputTokens,
});

/** Messages as they are stored: without secrets, and truncated if they are too long. Pure. */
function keptMessages({ messages }: Asked): ModelCallDocument["messages"] {
  return messages.map(({ role, content }) => ({ role, content: keptText(content) }));
}

/**
 * SHA-256 of a question: its messages as {@link keptMessages} returns them, the answer schema, and the tools
 * that are sent with it. Pure.
 */
function askDigest(asked: Pick<Asked, "schema" | "tools">, messages: ModelCallDocument["messages"]): string {
  const { schema = null, tools = null } = asked;
  return canonicalDigest({ messages, schema, tools });
}

/** The call whose answer is wanted. */
interface WantedAnswer {
  purpose: ModelCallDocument["purpose"];
  /** See `askDigest`. */
  askDigest: string;
  /** The models that may have answered, "provider:model". */
  models: readonly string[];
}

/**
 * The recorded answer of an earlier planner to the same question; null when that planner did not ask, or its
 * answer was not recorded. The answer is removed from the claim, so it is used once. Answers of later claims
 * come first, because the next question was about such an answer.
 */
function takeAnswer(
  { earlierCalls }: Pick<PlanningClaim, "earlierCalls">,
  wanted: WantedAnswer,
): RecordedAnswer | null {
  const at = earlierCalls.findIndex((call) => isWanted(call, wanted));
  const [call] = at < 0 ? [] : earlierCalls.splice(at, 1);
  return call ? toAnswer(call) : null;
}

const isWanted = (call: EndedModelCall, { purpose, askDigest, models }: WantedAnswer): boolean =>
  isAnswered(call) && call.purpose === purpose && call.askDigest === askDigest && models.includes(call.model);

function toAnswer(call: EndedModelCall): RecordedAnswer {
  const { model, answer: text, finishReason, latencyMs, error } = call;
  const { inputTokens, outputTokens, cachedInputTokens = null } = call;
  return {
    model,
    text,
    finishReason,
    latencyMs,
    error,
    usage: { inputTokens, outputTokens, cachedInputTokens },
  };
}

/** Facts that were known when the call began. */
interface Begun {
  call: Pick<CallToCome, "promptTokens">;
  /** Null when the price is unknown. */
  price: ModelPrice | null;
  reserved: ModelSpending;
}

const NOTHING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/**
 * An ended call, as it is stored and counted. Pure. A call that the provider refused costs nothing; a call
 * with an unknown result costs all that was reserved; tokens that the provider did not count are estimated.
 */
export function settledCall(outcome: CallEnd, begun: Begun): ModelCallEnd {
  const { usage, finishReason, latencyMs, error, text } = outcome;
  const { spent, isCounted } = spentOn(outcome, begun);
  const answer = keptText(text);
  return {
    answer,
    isAnswerComplete: answer === text,
    finishReason,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? null,
    latencyMs,
    costUsd: begun.price === null ? null : spent.costUsd,
    pricing: begun.price === null ? "unpriced" : isCounted ? "priced" : "estimated",
    spent,
    error: error && redactedError(error),
  };
}

function spentOn(
  { spent, usage, text }: CallEnd,
  { call, price, reserved }: Begun,
): { spent: ModelSpending; isCounted: boolean } {
  switch (spent) {
    case "none":
      return { spent: NOTHING, isCounted: true };
    case "unknown":
      return { spent: reserved, isCounted: false };
    case "complete": {
      const estimate = { inputTokens: call.promptTokens, outputTokens: estimateTokens(text) };
      const tokens =
        (usage.inputTokens ?? estimate.inputTokens) + (usage.outputTokens ?? estimate.outputTokens);
      const cost = price === null ? 0 : costUsd(price, usage, estimate);
      return {
        spent: { modelCalls: 1, tokens, costUsd: cost },
        isCounted: usage.inputTokens !== null && usage.outputTokens !== null,
      };
    }
  }
}

type ModelCall = Omit<ModelCallDocument, "_id" | "createdAt">;

/** Most characters that are stored of one text; a MongoDB document holds at most 16 MiB. */
const MAX_KEPT = 1_048_576;

/** A text as it is stored for people: without secrets, and truncated if it is too long. */
export function keptText(text: string): string {
  return redactText(text).slice(0, MAX_KEPT);
}

/**
 * A text that is still arriving, as it is shown: without secrets, and without its last word, since only a
 * complete word can be recognised as a secret.
 */
export function partialText(text: string): string {
  // Not by one pattern, which would begin anew at each character of every word.
  let end = text.length;
  while (end > 0 && !WORD_END.test(text.charAt(end - 1))) end -= 1;
  return redactText(text.slice(0, end));
}

const WORD_END = /[\s"'`,;]/;

/** A call as it is stored: the messages and the answer, also of a failed call. */
export function recordOfCall(call: {
  request: Pick<RequestDocument, "_id" | "tenant" | "query">;
  drafter: Pick<Drafter, "name">;
  purpose: ModelCall["purpose"];
  result: DraftResult | DraftError;
}): ModelCall {
  const { request, result } = call;
  const draft = result instanceof DraftError ? (result.partial ?? {}) : result;
  const query = { role: "user", content: request.query ?? "" };
  const messages = draft.messages && draft.messages.length > 0 ? draft.messages : [query];
  return {
    requestId: request._id,
    tenant: request.tenant,
    purpose: call.purpose,
    model: call.drafter.name,
    messages: messages.map(({ role, content }) => ({ role, content: keptText(content) })),
    answer: keptText(draft.text ?? ""),
    finishReason: draft.finishReason ?? null,
    inputTokens: draft.usage?.inputTokens ?? null,
    outputTokens: draft.usage?.outputTokens ?? null,
    latencyMs: draft.latencyMs ?? 0,
    costUsd: null,
    error: result instanceof DraftError ? redactedError(result) : null,
  };
}

/**
 * An error that may be stored and shown: error texts of providers may contain keys and addresses with
 * passwords.
 */
export function redactedError({ code, message }: RecordedError): RecordedError {
  return { code, message: redactText(message) };
}

/** Dependencies of {@link postponeIfAway}. */
export interface PostponeParts {
  store: Pick<PlanningStore, "postponePlanning">;
  /** How long the model of a request may be away before its planning fails, in milliseconds. Default: 600,000. */
  modelUnreachableMs?: number | undefined;
}

/** The request was released: a planner claims it again when its model is to be tried again. */
export class PostponedError extends CodedError<Pick<ModelWait, "error" | "nextAttemptAt" | "until">> {
  readonly code = "POSTPONED";
  readonly retryable = true;
  constructor(wait: ModelWait) {
    super("Planning continues when the model is back", wait);
  }
}

/**
 * Returns an error that waiting does not cure, or that came after all waiting.
 * @throws {PostponedError} when the model is away for now: the claim is then released
 * @throws {LeaseLostError}
 */
export async function postponeIfAway(
  { store, modelUnreachableMs = 600_000 }: PostponeParts,
  claim: PlanningClaim,
  error: DraftError,
): Promise<DraftError> {
  const requestedMs = awayForMs(error);
  if (requestedMs === null) return error;
  const wait = await store.postponePlanning(claim, {
    error: redactedError(error),
    pauseMs: (tries) => modelPauseMs(tries, Math.random()),
    requestedMs,
    unreachableMs: modelUnreachableMs,
  });
  if (wait) throw new PostponedError(wait);
  return error;
}
