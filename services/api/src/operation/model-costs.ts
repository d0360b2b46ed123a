import { BadInputError } from "../errors/input-errors.ts";
import type { GraphqlContext } from "./context.ts";

/** Arguments of the sums. `before` absent: now. */
export interface CostTime {
  from: Date;
  before?: Date | null;
}

/** Longest time of the sums, in milliseconds. */
const MAX_TIME_MS = 31 * 86_400_000;

/** Costs of the caller's tenant. @throws {BadInputError} for an empty time and for one above 31 days */
export async function readCosts(
  { store, tenant, nowMs }: Pick<GraphqlContext, "store" | "tenant" | "nowMs">,
  { from, before: given }: CostTime,
) {
  const before = given ?? new Date(nowMs);
  if (from >= before) {
    const remedy = "Give a from that is earlier, and a before that is later, or none: then it is now.";
    throw new BadInputError("from", "The time ends before it begins", remedy);
  }
  if (before.getTime() - from.getTime() > MAX_TIME_MS) {
    throw new BadInputError("from", "The time is longer than 31 days", "Give a from that is later.");
  }
  const { models, requests, ...costs } = await store.modelCosts(tenant, { from, before });
  return {
    from,
    before,
    ...costs,
    models: models.map(({ model, ...cost }) => ({ model, cost })),
    requests: requests.map(({ requestId, ...cost }) => ({ requestId, cost })),
  };
}
