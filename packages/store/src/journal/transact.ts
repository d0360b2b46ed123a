/**
 * The cold way to write (docs/architecture.md, R3): what changes a request that has no owner.
 *
 * 1. One transaction stores the entry and does the writes that follow from it: all of them or nothing.
 * 2. The entry's seq is the fence: a change that was decided before another entry is not written.
 * 3. So are the conditions of the writes: when a document has changed since it was read, for example because an
 *    owner claimed it, or when it was removed, nothing is written.
 * 4. A write whose answer was lost is sent again. It recognizes its own entry by the `writeId`.
 * 5. Nothing is read inside the transaction, so that writes of owners to the same documents do not wait for it.
 */

import { advance, type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { Collections } from "../database/collections.ts";
import {
  isDuplicateKey,
  notCommittedYet,
  type Retry,
  repeatUntilAnswered,
} from "../database/transient-errors.ts";
import { StoreUnavailableError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { entryIdOf, toJournalDocument, withoutEventValues } from "./entry-log.ts";
import {
  type Journal,
  type JournalMetrics,
  type NewEntry,
  requireEntrySize,
  timedAppend,
} from "./journal.ts";
import { changeOf, collectionOf, type HeadWrite } from "./pending-write.ts";

/** Largest entry as BSON, in bytes, because of MongoDB's 16 MiB: only a very long version comes near. */
const MAX_ENTRY_BSON_BYTES = 16_000_000;

/** An entry, and the writes that follow from it, in this order. */
export interface ColdWrite {
  entry: NewEntry;
  following: (entry: JournalEntry) => readonly HeadWrite[];
}

/** Result of a cold write. `taken`: nothing was written, because the request has changed; decide again. */
type ColdResult = { type: "appended"; entry: JournalEntry } | { type: "taken" };

/**
 * Does a cold write. Durable when it resolves.
 * @throws {StoreUnavailableError} It is unknown then whether it was written.
 * @throws {EntryTooLargeError} Nothing is written then. Such an entry cannot be split: its writes follow from
 *   all of it.
 */
export type Transact = (write: ColdWrite) => Promise<ColdResult>;

/** Options of {@link createTransact}. */
export interface TransactOptions extends Retry {
  collections: Collections;
  owner: string;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  metrics?: JournalMetrics | undefined;
}

/** Cold writes over a database. */
export function createTransact({ collections, owner, now, metrics, ...repeat }: TransactOptions): Transact {
  const { client, journal } = collections;
  const { monotonic = () => performance.now(), retryForMs = 30_000 } = repeat;
  const operation = "transaction";
  let sequence = 0;

  /** False when a condition did not hold: nothing is written then. */
  function writeAll(
    entry: JournalEntry,
    following: readonly HeadWrite[],
    deadlineAt: number,
  ): Promise<boolean> {
    let isRepeat = false;
    return client.withSession((session) =>
      session.withTransaction(
        async () => {
          // The driver repeats it for two minutes: longer than a client waits.
          if (isRepeat && monotonic() > deadlineAt) throw new StoreUnavailableError({ operation });
          isRepeat = true;
          await journal.insertOne(toJournalDocument(entry), { session });
          for (const write of following) {
            const collection = collectionOf(collections, write);
            if ("insert" in write) await collection.insertOne(write.insert, { session });
            else {
              const filter = { _id: write.id, ...write.condition };
              const { matchedCount } = await collection.updateOne(filter, changeOf(write), { session });
              if (matchedCount > 0) continue;
              await session.abortTransaction();
              return false;
            }
          }
          return true;
        },
        { readConcern: { level: "snapshot" }, writeConcern: { w: "majority", journal: true } },
      ),
    );
  }

  return async ({ entry: given, following: followingOf }) => {
    sequence += 1;
    const writeId = `${owner}:cold:${sequence}`;
    const entry: JournalEntry = { ...given, at: new Date(now()), writeId };
    requireEntrySize(entry, MAX_ENTRY_BSON_BYTES);
    const following = followingOf(entry);
    const deadlineAt = monotonic() + retryForMs;
    const attempt = async (): Promise<ColdResult> => {
      try {
        const isWritten = await writeAll(entry, following, deadlineAt);
        return isWritten ? { type: "appended", entry } : { type: "taken" };
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const found = await journal.findOne({ _id: entryIdOf(entry) });
        if (!found) throw notCommittedYet([entryIdOf(entry)]);
        return found.writeId === entry.writeId ? { type: "appended", entry } : { type: "taken" };
      }
    };
    return timedAppend(repeatUntilAnswered(operation, attempt, repeat), { metrics, monotonic });
  };
}

type EntryContent = Pick<JournalEntry, "by" | "events" | "idempotency">;

/** The next entry of a journal, and the request as it is after that entry. */
export interface NextEntry {
  entry: NewEntry;
  after: FoldedRequest;
}

/**
 * The next entry of a journal. Events that cannot follow from the current state of the request are refused:
 * with them the journal could not be folded any more. Pure.
 * @param plan - the plan that the events are about, or that planning is to make
 * @param request - the state after the last entry
 * @throws {JournalInvalidError}
 */
export function nextEntry(
  { _id: planId, requestId, tenant }: Pick<PlanDocument, "_id" | "requestId" | "tenant">,
  request: FoldedRequest,
  content: EntryContent,
): NextEntry {
  const entry: NewEntry = { requestId, tenant, planId, seq: request.seq + 1, ...content };
  return { entry, after: fold(request, [{ ...entry, at: new Date(0), writeId: "" }]) };
}

/** The writes that follow from an entry, computed from it and the request after it. */
export type FollowingOf = (entry: JournalEntry, after: FoldedRequest) => readonly HeadWrite[];

/*
 * Entries of the owner of work, an executor or a planner: the hot way to write (docs/architecture.md, R3).
 *
 * 1. An entry is appended behind the entries of other writers: it is decided again when another one was appended
 *    first (J1).
 * 2. An entry that cannot follow from the entries before it is not written: the journal could not be folded any
 *    more.
 * 3. The documents follow in the same command or after it (J4). After a crash the next owner does these writes
 *    again, or the work. What it could not do again, the document of a new version, is stored in one transaction
 *    with its entry.
 */

/** The next entry of an owner. */
interface OwnerEntry extends Omit<NewEntry, "requestId" | "tenant" | "seq"> {
  following?: FollowingOf | undefined;
  /** Does it in one transaction, as one who does not own the request. Default: the hot way. */
  transact?: Transact | undefined;
}

/** The journal of a request, as one owner writes it. */
export interface OwnerEntries {
  journal: Journal;
  requestId: string;
  tenant: string;
  /** The state after the last known entry; it is changed. */
  state: FoldedRequest;
  /** @throws {JournalInvalidError} for an entry that cannot follow */
  requireValid: (entry: NewEntry) => void;
  /** The error when the request's document does not allow the entry any more. */
  lost: () => Error;
}

/**
 * Appends an entry, and waits for the writes that follow. Durable when it returns.
 * @param decide - the entry after all entries before it; undefined: none is appended
 * @returns whether it was appended
 */
export async function appendAsOwner(
  { journal, requestId, tenant, state, requireValid, lost }: OwnerEntries,
  decide: () => OwnerEntry | undefined,
): Promise<boolean> {
  for (;;) {
    const decided = decide();
    if (!decided) return false;
    const { following, transact, ...content } = decided;
    const entry: NewEntry = { requestId, tenant, ...content, seq: state.seq + 1 };
    requireValid(entry);
    const followingOf =
      following &&
      ((appended: JournalEntry) => following(appended, fold(state, [withoutEventValues(appended)])));
    const result = await (transact
      ? transact({ entry, following: followingOf ?? (() => []) })
      : journal.append(entry, followingOf));
    if (result.type === "appended") {
      advance(state, [withoutEventValues(result.entry)]);
      return true;
    }
    const others = await journal.read(requestId, state.seq);
    // Its document has changed without an entry, or is not there any more.
    if (transact && others.length === 0) throw lost();
    advance(state, others.map(withoutEventValues));
  }
}
