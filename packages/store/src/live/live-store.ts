import type { ChangedRequest, ChangedWanted } from "./read-changed.ts";
import type { ChangeListener, ChangeWatch } from "./watch-changes.ts";

/** Hears of what others change. */
export interface LiveStore {
  /** Tells of changes of requests, plans and steps, whichever process makes them, until it is closed. */
  watchChanges(listener: ChangeListener): ChangeWatch;
  /**
   * Tells of those changes of requests and plans alone after which nothing may happen to a request by itself
   * any more: a few of all that a plan makes. What it tells of is to be read: not each of them is such an
   * end.
   */
  watchRests(listener: ChangeListener): ChangeWatch;
  /**
   * Requests of these tenants by ids that a watch told, their own or those of their plans, with their current
   * plans. Few reads, however many. What is not there, or another tenant's, is left out.
   */
  readChanged(ids: readonly string[], wanted: ChangedWanted): Promise<ChangedRequest[]>;
}
