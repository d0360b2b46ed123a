import type { GroupCommit } from "../commit/group-commit.ts";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { Journal } from "../journal/journal.ts";
import type { SettleOutbox } from "../journal/settle-outbox.ts";
import type { UnitReads } from "../journal/unit-reads.ts";

/** What the parts of the execution store share. */
export interface ExecutionContext {
  collections: Collections;
  group: GroupCommit;
  journal: Journal;
  unitReads: UnitReads;
  settleOutbox: SettleOutbox;
  clock: ServerClock;
  /** Waits, by this process's clock. */
  sleep: (ms: number) => Promise<void>;
  /** Longest a plan may take from its first claim, in milliseconds. */
  planTimeoutMs: number;
}
