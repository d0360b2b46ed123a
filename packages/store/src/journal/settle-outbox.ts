import type { Collections } from "../collections.ts";
import type { OutboxDocument } from "../documents.ts";
import type { EntryLog } from "./entry-log.ts";
import type { RequestTurns } from "./request-turns.ts";
import { fromOutbox } from "./turn-log.ts";

/** How old what is kept is before another process looks at it, in milliseconds: the one that kept it is mostly not done yet. */
const LEFT_AFTER_MS = 60_000;
/** How old it is before it is given up, in milliseconds, where its entry was never appended: nobody tries that any more. */
const GIVE_UP_AFTER_MS = 600_000;

/** Does what follows from entries whose process died before it had done that. */
export interface SettleOutbox {
  /** Of one request, now. */
  ofRequest(requestId: string): Promise<void>;
  /** Of all requests, where it was left alone for a minute; removes what was never told. */
  left(): Promise<void>;
}

/** What that needs. */
export interface SettleOutboxParts {
  collections: Pick<Collections, "outbox">;
  log: Pick<EntryLog, "readTails">;
  turns: Pick<RequestTurns, "follow">;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
}

export function createSettleOutbox({ collections, log, turns, now }: SettleOutboxParts): SettleOutbox {
  const { outbox } = collections;

  async function isTold({ _id: writeId, requestId }: OutboxDocument): Promise<boolean> {
    for await (const entry of log.readTails([{ requestId, seq: 0 }])) {
      if (entry.writeId === writeId) return true;
    }
    return false;
  }

  async function settle(kept: readonly OutboxDocument[]): Promise<void> {
    for (const one of kept) {
      const isThere = await isTold(one);
      if (isThere) await turns.follow(fromOutbox(one));
      const isOld = one.createdAt.getTime() < now() - GIVE_UP_AFTER_MS;
      if (isThere || isOld) await outbox.deleteMany({ _id: one._id });
    }
  }

  return {
    ofRequest: async (requestId) => settle(await outbox.find({ requestId }).toArray()),
    left: async () =>
      settle(await outbox.find({ createdAt: { $lt: new Date(now() - LEFT_AFTER_MS) } }).toArray()),
  };
}
