import type { PlanId } from "@planwright/plan";

/** The reads of a store by which clients get steps. The store's package tests itself with this one. */
interface StepReads<Step> {
  listStepHeads(tenant: string, planIds: readonly PlanId[]): Promise<Step[]>;
  readStepValues(
    tenant: string,
    steps: readonly Step[],
    wanted: { body: boolean; output: boolean },
  ): Promise<Step[]>;
}

/** Steps and items of plans with all their values, in plan order, as clients read them. */
export async function listSteps<Step>(
  store: StepReads<Step>,
  tenant: string,
  planIds: readonly PlanId[],
): Promise<Step[]> {
  const heads = await store.listStepHeads(tenant, planIds);
  return store.readStepValues(tenant, heads, { body: true, output: true });
}

/** Ids of work that is due and that no worker holds, as a sweep finds it. */
export async function findDue<Id>(
  leases: { findInTurns(limit: number, full: readonly string[]): Promise<{ id: Id }[]> },
  limit: number,
): Promise<Id[]> {
  return (await leases.findInTurns(limit, [])).map(({ id }) => id);
}
