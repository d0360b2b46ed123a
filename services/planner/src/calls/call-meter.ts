import {
  BudgetExceededError,
  type CallMeter,
  type CallToCome,
  costUsd,
  ModelUnpricedError,
  type PriceList,
} from "@planwright/models";
import type { ModelCallBegin, ModelSpending, PlanningClaim, PlanningStore } from "@planwright/store";
import { keptText } from "../graph/record-of-call.ts";
import { type ModelMetrics, NO_MODEL_METRICS } from "../metrics/model-metrics.ts";
import { settledCall } from "./settled-call.ts";

/** What metering needs. */
export interface CallMeterParts {
  store: Pick<PlanningStore, "beginModelCall" | "endModelCall">;
  prices: PriceList;
  /** Default: nothing is counted. */
  metrics?: ModelMetrics | undefined;
}

/**
 * Records every call of a model under its request, and lets none begin that might take more than the request's limits leave.
 * @throws {BudgetExceededError | ModelUnpricedError | LeaseLostError} from `begin`; nothing was sent then
 */
export function createCallMeter(
  { store, prices, metrics = NO_MODEL_METRICS }: CallMeterParts,
  claim: PlanningClaim,
  purpose: ModelCallBegin["purpose"],
): CallMeter {
  return {
    async begin(call) {
      const { model, messages, attempt, fallbackFor } = call;
      const price = prices.priceOf(model);
      const maxCostUsd = claim.request.modelLimits?.maxCostUsd ?? null;
      if (price === null && maxCostUsd !== null) throw new ModelUnpricedError({ model, maxCostUsd });
      const reserved: ModelSpending = {
        modelCalls: 1,
        tokens: call.promptTokens + call.maxOutputTokens,
        costUsd: price === null ? 0 : costUsd(price, largestUsage(call)),
      };
      const kept = messages.map(({ role, content }) => ({ role, content: keptText(content) }));
      const begun = await store.beginModelCall(claim, {
        purpose,
        model,
        messages: kept,
        attempt,
        fallbackFor,
        reserved,
      });
      if (begun.type === "exceeded") {
        const { limit, max, used, needed } = begun;
        throw new BudgetExceededError({ limit, max, used, needed, model });
      }
      return {
        end: (outcome) => {
          const settled = settledCall(outcome, { call, price, reserved });
          metrics.called(model, settled);
          return store.endModelCall(begun.callId, settled);
        },
      };
    },
  };
}

const largestUsage = ({ promptTokens, maxOutputTokens }: CallToCome) => ({
  inputTokens: promptTokens,
  outputTokens: maxOutputTokens,
});
