import type { RandomBytes } from "@planwright/plan";
import type { Accept } from "../acceptance/accept.ts";
import type { GroupCommit } from "../commit/group-commit.ts";
import type { AppendControl } from "../controls/append-control.ts";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { Journal } from "../journal/journal.ts";
import type { RequestTurns } from "../journal/request-turns.ts";
import type { SettleOutbox } from "../journal/settle-outbox.ts";
import type { UnitReads } from "../journal/unit-reads.ts";

/** What the parts of the client store share. */
export interface ClientContext {
  accept: Accept;
  appendControl: AppendControl;
  collections: Collections;
  group: GroupCommit;
  journal: Journal;
  unitReads: UnitReads;
  clock: ServerClock;
  randomBytes: RandomBytes;
  turns: RequestTurns;
  settleOutbox: SettleOutbox;
  /** Waits, by this process's clock. */
  sleep: (ms: number) => Promise<void>;
}
