import type { RandomBytes } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { Journal } from "../journal/journal.ts";
import type { RequestTurns } from "../journal/request-turns.ts";
import type { SettleOutbox } from "../journal/settle-outbox.ts";
import type { UnitReads } from "../journal/unit-reads.ts";

/** What planning needs. */
export interface PlanningContext {
  collections: Collections;
  journal: Pick<Journal, "read" | "readWithoutValues">;
  turns: RequestTurns;
  settleOutbox: SettleOutbox;
  unitReads: UnitReads;
  clock: ServerClock;
  /** Source of ids. */
  randomBytes: RandomBytes;
}
