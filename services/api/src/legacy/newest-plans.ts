import type { PlanHead } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import type { GraphqlContext } from "../operation/context.ts";

/** Most requests whose plans are returned at once. */
const MAX_REQUESTS = 100;

/**
 * Plans of the newest requests, all versions, the newest request and version first. Older clients do not use
 * pages.
 * @throws {BadInputError} for a number of requests outside 1 to 100
 */
export async function newestPlans(
  { store, tenant, reads }: Pick<GraphqlContext, "store" | "tenant" | "reads">,
  first: number,
): Promise<PlanHead[]> {
  if (first < 1 || first > MAX_REQUESTS) {
    throw new BadInputError("first", `Plans of ${first} requests are not allowed`, "Ask for 1 to 100.");
  }
  const { items } = await store.listRequests(tenant, { first });
  reads.prime(items);
  const plans = await Promise.all(items.map((request) => reads.plansOf(request)));
  return plans.flat();
}

/**
 * The plans whose execution was requested.
 * @throws {BadInputError} for a number of requests outside 1 to 100
 */
export async function newestExecutions(
  context: Pick<GraphqlContext, "store" | "tenant" | "reads">,
  first: number,
): Promise<PlanHead[]> {
  const plans = await newestPlans(context, first);
  return plans.filter(({ queuedAt }) => queuedAt !== null);
}
