import type { Collections } from "../collections.ts";
import type { GroupCommit } from "../group-commit/group-commit.ts";
import type { Journal } from "../journal/journal.ts";
import type { SettleOutbox } from "../journal/settle-outbox.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import type { ServerClock } from "../server-clock.ts";

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
