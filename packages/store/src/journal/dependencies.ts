import type { PlanId, RandomBytes } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Journal } from "./journal.ts";
import type { Transact } from "./transact.ts";
import type { UnitReads } from "./unit-reads.ts";

/** Dependencies of the parts of the store. */
export interface StoreDependencies {
  collections: Collections;
  group: GroupCommit;
  journal: Journal;
  transact: Transact;
  unitReads: UnitReads;
  clock: ServerClock;
  randomBytes: RandomBytes;
  /** Plans that were stored as claimed by an executor of this process, until it begins with them. */
  acceptedHere: Map<PlanId, PlanDocument>;
  /** Waits, by this process's clock. */
  sleep: (ms: number) => Promise<void>;
  /** Longest a plan may take from its first claim, in milliseconds. */
  planTimeoutMs: number;
}
