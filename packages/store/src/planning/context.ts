import type { RandomBytes } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { SessionAppends } from "../journal/session-appends.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import type { ServerClock } from "../server-clock.ts";

/** What planning needs. */
export interface PlanningContext {
  collections: Collections;
  unitReads: UnitReads;
  clock: ServerClock;
  /** Source of ids. */
  randomBytes: RandomBytes;
  transact: <T>(run: (session: ClientSession) => Promise<T>) => Promise<T>;
  /** Default: nothing is counted. */
  appends?: SessionAppends | undefined;
}
