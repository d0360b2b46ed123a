import type { ExecutionStore } from "../store.ts";
import type { ExecutionContext } from "./context.ts";

/** The part of the store that brings the wishes of clients and operators to the executor that holds a plan. */
export function createWishes({ collections }: ExecutionContext): Pick<ExecutionStore, "findWishes"> {
  return {
    async findWishes(planIds) {
      if (planIds.length === 0) return [];
      const projection = {
        wishes: 1,
        cancelRequestedAt: 1,
        pauseRequestedAt: 1,
        approvals: 1,
        resolutions: 1,
      };
      return collections.plans
        .find({ _id: { $in: [...planIds] }, wishes: { $gt: 0 } }, { projection })
        .toArray();
    },
  };
}
