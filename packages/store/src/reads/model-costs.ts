import type { RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Collections } from "../database/collections.ts";

/** What the model calls of a tenant cost within a time. */
export interface ModelCosts {
  /** By model, the most expensive first, at most 50. */
  models: (ModelCost & { model: string })[];
  /** The most expensive requests, at most 10. Questions about contracts are none, and are part of the others. */
  requests: (ModelCost & { requestId: RequestId })[];
  total: ModelCost;
  /** False when there were more than {@link MAX_COSTED} calls: then only the newest of them are counted. */
  isComplete: boolean;
}

/** Sums over calls of models. */
export interface ModelCost {
  calls: number;
  /** Calls that failed. */
  failures: number;
  /** Calls that run, or whose planner died: their tokens and cost are not known, and not part of the sums. */
  unended: number;
  /** Calls of models whose price is not known: their cost is not part of `costUsd`. */
  unpriced: number;
  inputTokens: number;
  /** Those of them that came from the provider's cache. */
  cachedInputTokens: number;
  outputTokens: number;
  /** In US dollars. */
  costUsd: number;
}

/** Maximum number of calls that are summed. */
const MAX_COSTED = 200_000;
const MAX_MODELS = 50;
const MAX_REQUESTS = 10;

const NO_COST: ModelCost = {
  calls: 0,
  failures: 0,
  unended: 0,
  unpriced: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

const SUMS: Document = {
  calls: { $sum: 1 },
  failures: countOf({ $ne: ["$error", null] }),
  // Absent: the call was recorded after its end.
  unended: countOf({ $eq: ["$endedAt", null] }),
  unpriced: countOf({ $eq: ["$pricing", "unpriced"] }),
  inputTokens: { $sum: "$inputTokens" },
  cachedInputTokens: { $sum: "$cachedInputTokens" },
  outputTokens: { $sum: "$outputTokens" },
  costUsd: { $sum: "$costUsd" },
};

/**
 * Sums the model calls of a tenant that were sent from a time on and before another; calls of the offline drafter
 * are not counted. Reads by an index, without prompts and answers.
 */
export async function readModelCosts(
  { modelCalls }: Pick<Collections, "modelCalls">,
  tenant: string,
  { from, before }: { from: Date; before: Date },
): Promise<ModelCosts> {
  const mostExpensive = (by: string, limit: number): Document[] => [
    { $group: { _id: by, ...SUMS } },
    { $sort: { costUsd: -1, calls: -1, _id: 1 } },
    { $limit: limit },
  ];
  type Summed<Id> = ModelCost & { _id: Id };
  const [found] = await modelCalls
    .aggregate<{ models: Summed<string>[]; requests: Summed<RequestId>[]; total: Summed<null>[] }>([
      { $match: { tenant, createdAt: { $gte: from, $lt: before }, attempt: { $gte: 1 } } },
      { $sort: { createdAt: -1 } },
      { $limit: MAX_COSTED },
      {
        $project: {
          model: 1,
          requestId: 1,
          purpose: 1,
          error: { $ifNull: ["$error.code", null] },
          endedAt: 1,
          pricing: 1,
          costUsd: 1,
          inputTokens: 1,
          cachedInputTokens: 1,
          outputTokens: 1,
        },
      },
      {
        $facet: {
          models: mostExpensive("$model", MAX_MODELS),
          requests: [
            { $match: { purpose: { $ne: "contracts" } } },
            ...mostExpensive("$requestId", MAX_REQUESTS),
          ],
          total: [{ $group: { _id: null, ...SUMS } }],
        },
      },
    ])
    .toArray();
  const { models = [], requests = [], total = [] } = found ?? {};
  const sums = total.map(({ _id, ...cost }) => cost)[0] ?? NO_COST;
  return {
    models: models.map(({ _id: model, ...cost }) => ({ model, ...cost })),
    requests: requests.map(({ _id: requestId, ...cost }) => ({ requestId, ...cost })),
    total: sums,
    isComplete: sums.calls < MAX_COSTED,
  };
}

function countOf(condition: Document): Document {
  return { $sum: { $cond: [condition, 1, 0] } };
}
