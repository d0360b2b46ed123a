import {
  BudgetExceededError,
  type CallMeter,
  type CallToCome,
  costUsd,
  ModelUnpricedError,
  type PriceList,
} from "@planwright/models";
import type { PartialAnswerWriter } from "@planwright/queue";
import type {
  ModelCallBegin,
  ModelCallDocument,
  ModelSpending,
  PlanningClaim,
  PlanningStore,
  RequestDocument,
} from "@planwright/store";
import { askDigest, keptMessages } from "./ask-digest.ts";
import { type ModelMetrics, NO_MODEL_METRICS } from "./model-metrics.ts";
import { settledCall } from "./settled-call.ts";
import { takeAnswer } from "./take-answer.ts";

/** What calls are made for: the claim of a request, or a question about contracts. */
export interface MeteredWork extends Pick<PlanningClaim, "earlierCalls"> {
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
