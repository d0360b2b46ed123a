import type { ChangeListener, Store } from "@planwright/store";

/** The part of a store that ends plans and reports ends. */
type Ends = Pick<Store, "finishPlan" | "watchRequestsAtRest">;

/**
 * Adds the short way inside a process to the ends of requests: once an end is durable, the executor of this process
 * tells the waits of this process. They read the request then, and do not depend on it: the change stream reports
 * the same end, and those of all other processes.
 */
export function tellEndsHere<AnyStore extends Ends>(store: AnyStore): AnyStore {
  const listeners = new Set<ChangeListener>();
  return {
    ...store,
    async finishPlan(claim, finish, last) {
      const end = await store.finishPlan(claim, finish, last);
      // A request that waits for a planner now has not ended.
      if (!end.isForPlanner) for (const listener of listeners) listener.onChange(claim.plan.requestId);
      return end;
    },
    watchRequestsAtRest(listener) {
      const watch = store.watchRequestsAtRest(listener);
      listeners.add(listener);
      return {
        ready: watch.ready,
        close() {
          listeners.delete(listener);
          return watch.close();
        },
      };
    },
  } satisfies Ends;
}
