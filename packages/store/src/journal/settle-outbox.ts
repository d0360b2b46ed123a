import type { JournalEntry } from "@planwright/engine";
import type { Collections } from "../database/collections.ts";
import { StoreUnavailableError } from "../records/errors.ts";
import type { OutboxDocument } from "../records/journal-documents.ts";
import { type EntryLog, entryIdOf } from "./entry-log.ts";
import { OutboxStuckError, RequestRemovedError } from "./errors.ts";
import type { RequestTurns } from "./request-turns.ts";
import { fromOutbox } from "./turn-log.ts";

/**
 * Age from which any process settles a document, in milliseconds. Before that its own process is probably
 * still working on it.
 */
const ABANDONED_AFTER_MS = 60_000;
/**
 * Age from which a document without an entry is removed, in milliseconds. By then no process tries to append
 * that entry any more.
 */
const REMOVE_AFTER_MS = 600_000;

/**
 * Does the writes that follow from entries whose process died before it did them.
 * @throws {OutboxStuckError | StoreUnavailableError}
 */
export interface SettleOutbox {
  /** Settles the documents of one request, of any age. */
  ofRequest(requestId: string): Promise<void>;
  /**
   * Settles the documents of all requests that are older than a minute. Removes documents whose entry was
   * never appended.
   */
  abandoned(): Promise<void>;
}

/** Dependencies of {@link createSettleOutbox}. */
export interface SettleOutboxParts {
  collections: Pick<Collections, "outbox" | "journal">;
  log: Pick<EntryLog, "readTails">;
  turns: Pick<RequestTurns, "follow">;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
}

export function createSettleOutbox({ collections, log, turns, now }: SettleOutboxParts): SettleOutbox {
  const { outbox, journal } = collections;

  async function entryOf({ _id: writeId, requestId }: OutboxDocument): Promise<JournalEntry | undefined> {
    for await (const entry of log.readTails([{ requestId, seq: 0 }])) {
      if (entry.writeId === writeId) return entry;
    }
    return undefined;
  }

  async function settleOne(kept: OutboxDocument): Promise<void> {
    const entry = await entryOf(kept);
    try {
      if (entry) await turns.follow(fromOutbox(kept));
    } catch (error) {
      if (!entry || !(error instanceof RequestRemovedError)) throw error;
      // Its process died before it took the entry back.
      await journal.deleteMany({ _id: entryIdOf(entry), writeId: entry.writeId });
    }
    const isOld = kept.createdAt.getTime() < now() - REMOVE_AFTER_MS;
    if (entry || isOld) await outbox.deleteMany({ _id: kept._id });
  }

  /** A document whose writes fail does not stop the others. */
  async function settle(kept: readonly OutboxDocument[]): Promise<void> {
    const stuck: { id: string; error: unknown }[] = [];
    for (const one of kept) {
      try {
        await settleOne(one);
      } catch (error) {
        // While MongoDB does not answer, the writes of the others would fail too.
        if (error instanceof StoreUnavailableError) throw error;
        stuck.push({ id: one._id, error });
      }
    }
    if (stuck.length > 0)
      throw new OutboxStuckError({ writeIds: stuck.map(({ id }) => id) }, stuck[0]?.error);
  }

  return {
    ofRequest: async (requestId) => settle(await outbox.find({ requestId }).toArray()),
    abandoned: async () =>
      settle(await outbox.find({ createdAt: { $lt: new Date(now() - ABANDONED_AFTER_MS) } }).toArray()),
  };
}
