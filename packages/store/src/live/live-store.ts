import type { ChangedRequest, ChangedWanted } from "./read-changed.ts";
import type { ChangeListener, ChangeWatch } from "./watch-changes.ts";

/** Reports changes of all processes. */
export interface LiveStore {
  /** Reports changes of requests, plans and steps by any process, until it is closed. */
  watchChanges(listener: ChangeListener): ChangeWatch;
  /**
   * Reports only changes of requests and plans after which a request may be idle (no worker continues it): a
   * few of all changes of a plan. The caller has to read the request, because it may still be active.
   */
  watchRequestsAtRest(listener: ChangeListener): ChangeWatch;
  /**
   * Requests of these tenants with their current plans, by ids of requests or plans that a watch reported.
   * The number of reads does not depend on the number of ids, only on that of the tenants. Missing requests, and those of other tenants,
   * are left out.
   */
  readChanged(ids: readonly string[], wanted: ChangedWanted): Promise<ChangedRequest[]>;
}
