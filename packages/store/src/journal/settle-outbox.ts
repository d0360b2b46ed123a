import type { Collections } from "../database/collections.ts";
import { StoreUnavailableError } from "../records/errors.ts";
import type { OutboxDocument } from "../records/journal-documents.ts";
import type { EntryLog } from "./entry-log.ts";
import { OutboxStuckError } from "./errors.ts";
import type { RequestTurns } from "./request-turns.ts";
import { fromOutbox } from "./turn-log.ts";

/**
 * Age from which another process settles a document, in milliseconds: until then its own process is probably
 * still at work.
 */
const LEFT_AFTER_MS = 60_000;
/**
 * Age from which a document without an entry is removed, in milliseconds: no process still tries to append
 * it.
 */
const GIVE_UP_AFTER_MS = 600_000;

/**
 * Does what follows from entries whose process died before it had done that.
 * @throws {OutboxStuckError | StoreUnavailableError}
 */
export interface SettleOutbox {
  /** Of one request, now. */
  ofRequest(requestId: string): Promise<void>;
  /** Of all requests, where it is older than a minute; removes documents whose entry was never appended. */
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

  async function settleOne(kept: OutboxDocument): Promise<void> {
    const isThere = await isTold(kept);
    if (isThere) await turns.follow(fromOutbox(kept));
    const isOld = kept.createdAt.getTime() < now() - GIVE_UP_AFTER_MS;
    if (isThere || isOld) await outbox.deleteMany({ _id: kept._id });
  }

  /** One that cannot be followed stops none of the others. */
  async function settle(kept: readonly OutboxDocument[]): Promise<void> {
    const stuck: { id: string; error: unknown }[] = [];
    for (const one of kept) {
      try {
        await settleOne(one);
      } catch (error) {
        // Nor can the others be followed while MongoDB does not answer.
        if (error instanceof StoreUnavailableError) throw error;
        stuck.push({ id: one._id, error });
      }
    }
    if (stuck.length > 0)
      throw new OutboxStuckError({ writeIds: stuck.map(({ id }) => id) }, stuck[0]?.error);
  }

  return {
    ofRequest: async (requestId) => settle(await outbox.find({ requestId }).toArray()),
    left: async () =>
      settle(await outbox.find({ createdAt: { $lt: new Date(now() - LEFT_AFTER_MS) } }).toArray()),
  };
}
