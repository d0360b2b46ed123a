/**
 * The journal of requests (docs/architecture.md, Journal). It is the source of truth; everything else follows from
 * it.
 *
 * 1. Compare and append (J1): each seq of a request's journal is taken once. A later writer gets the entry
 *    that is there.
 * 2. An append resolves when its entry is durable (majority, journalled), or when another entry has its seq.
 * 3. An append whose answer was lost is sent again. It recognizes its own entry by the `writeId`.
 * 4. Appends of all requests of a process are sent together: while bulks are in flight the next one collects.
 * 5. An entry that cannot be stored at all fails alone.
 * 6. The writes that follow from an entry are done when its append resolves: in the same command if the entry is
 *    alone in it, otherwise after it.
 */
import type { JournalEntry } from "@planwright/engine";
import { BSON } from "mongodb";
import { type Retry, repeatUntilAnswered } from "../database/transient-errors.ts";
import { EntryTooLargeError } from "../records/errors.ts";
import { type EntryLog, entryIdOf } from "./entry-log.ts";
import { createBatches } from "./group-commit.ts";
import type { HeadWrite } from "./pending-write.ts";

/** Largest entry as it is stored, in bytes. */
export const MAX_ENTRY_BYTES = 1_048_576;

/** Maximum number of entries in one read: each may have the largest size. */
const READ_LIMIT = 64;

/** An entry to be appended: the journal adds the time and the `writeId`. */
export type NewEntry = Omit<JournalEntry, "at" | "writeId">;

/** Result of an append. */
type AppendResult =
  | { type: "appended"; entry: JournalEntry }
  /** Nothing was written: this entry has the seq. */
  | { type: "taken"; entry: JournalEntry };

/** Options of {@link createJournal}. */
export interface JournalOptions extends Retry {
  log: EntryLog;
  /** Does writes that follow from an entry that shared its command with others. Default: there are none. */
  follow?: ((writes: readonly HeadWrite[]) => Promise<void>) | undefined;
  /** Distinguishes this process's appends from all others. */
  owner: string;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  /** Delays the sending of a bulk, so that all appends of the same turn share it. Default `setImmediate`. */
  soon?: ((happen: () => void) => void) | undefined;
  onBulk?: ((entries: number) => void) | undefined;
  metrics?: JournalMetrics | undefined;
}

/** Appends to journals, and reads them. */
export type Journal = ReturnType<typeof createJournal>;

interface Waiting {
  entry: JournalEntry;
  followingOf: ((entry: JournalEntry) => readonly HeadWrite[]) | undefined;
}

/** A journal over a log of entries. */
export function createJournal(options: JournalOptions) {
  const { log, follow, owner, now, monotonic = () => performance.now() } = options;
  const { metrics } = options;
  const batches = createBatches({
    send,
    idsOf: ({ entry }: Waiting) => [entryIdOf(entry)],
    soon: options.soon,
  });
  /** Writes that follow from entries whose bulk is done. */
  const following = new Set<Promise<unknown>>();
  let sequence = 0;

  async function followLater(writes: readonly HeadWrite[]): Promise<void> {
    const done = follow?.(writes) ?? Promise.resolve();
    const ended = done.catch(() => undefined).finally(() => following.delete(ended)); // its caller gets the error
    following.add(ended);
    return done;
  }

  async function send(batch: readonly Waiting[]) {
    const [only] = batch;
    // Computed only for a single entry: callers of entries that share a bulk do these writes themselves.
    const writes = only && batch.length === 1 ? (only.followingOf?.(only.entry) ?? []) : [];
    const entries = batch.map(({ entry }) => entry);
    const taken = await repeatUntilAnswered("journal append", () => log.insert(entries, writes), options);
    options.onBulk?.(batch.length);
    metrics?.bulkWritten(batch.length);
    return ({ entry, followingOf }: Waiting): AppendResult | Promise<AppendResult> => {
      const found = taken.get(entryIdOf(entry));
      const isOwn = found === undefined || found.writeId === entry.writeId;
      const left = isOwn && batch.length > 1 ? (followingOf?.(entry) ?? []) : [];
      const result: AppendResult = isOwn ? { type: "appended", entry } : { type: "taken", entry: found };
      // The next bulk does not wait for it.
      return left.length > 0 ? followLater(left).then(() => result) : result;
    };
  }

  return {
    /**
     * Appends an entry at its `seq`, unless that is taken. Durable when it resolves.
     * @param followingOf - computes the writes that follow from the entry, see invariant 6
     * @throws {EntryTooLargeError | StoreUnavailableError | WriteNotPossibleError} after the second it is
     *   unknown whether it was written
     */
    async append(
      given: NewEntry,
      followingOf?: (entry: JournalEntry) => readonly HeadWrite[],
    ): Promise<AppendResult> {
      sequence += 1;
      const writeId = `${owner}:${sequence}`;
      const entry: JournalEntry = { ...given, at: new Date(now()), writeId };
      requireEntrySize(entry, MAX_ENTRY_BYTES);
      return timedAppend(batches.add({ entry, followingOf }), { metrics, monotonic });
    },
    /**
     * All entries of a request after a seq, in their order; none for an unknown request.
     * @throws {StoreUnavailableError}
     */
    async read(requestId: string, afterSeq = 0): Promise<JournalEntry[]> {
      const entries: JournalEntry[] = [];
      for (;;) {
        const after = entries.at(-1)?.seq ?? afterSeq;
        const page = await repeatUntilAnswered(
          "journal read",
          () => log.read(requestId, after, READ_LIMIT),
          options,
        );
        entries.push(...page);
        if (page.length < READ_LIMIT) return entries;
      }
    },
    /** All entries, without outputs, arguments and data of errors: these may need too much memory. */
    readWithoutValues(requestId: string): Promise<JournalEntry[]> {
      const read = async (): Promise<JournalEntry[]> => {
        const entries: JournalEntry[] = [];
        for await (const entry of log.readTails([{ requestId, seq: 0 }])) entries.push(entry);
        return entries;
      };
      return repeatUntilAnswered("journal read", read, options);
    },
    /** Resolves when no append is in progress, and no write that follows from one. */
    async idle() {
      await batches.idle();
      await Promise.all(following);
    },
  };
}

/** @throws {EntryTooLargeError} for an entry that takes more bytes as BSON */
export function requireEntrySize(entry: JournalEntry, maxBytes: number): void {
  const sizeBytes = BSON.calculateObjectSize(entry, { ignoreUndefined: true });
  if (sizeBytes > maxBytes) throw new EntryTooLargeError({ place: entryIdOf(entry), sizeBytes, maxBytes });
}

/** Result of an append: `taken`: another entry has its seq; `failed`: not written, or that is unknown. */
type AppendOutcome = "appended" | "taken" | "failed";

/** Counts appends to journals by their outcome. Never waits and never throws. */
export interface JournalMetrics {
  /** @param durationMs - from the call to its answer, with the wait for a bulk */
  appendEnded(outcome: AppendOutcome, durationMs: number): void;
  /** A bulk was answered by MongoDB. @param entries - entries in the bulk, also those whose seq was taken */
  bulkWritten(entries: number): void;
}

/** Reports how an append ended, and how long it took. @param monotonic - milliseconds */
export async function timedAppend<Result extends { type: "appended" | "taken" }>(
  appending: Promise<Result>,
  { metrics, monotonic }: { metrics: JournalMetrics | undefined; monotonic: () => number },
): Promise<Result> {
  const startedAt = monotonic();
  try {
    const result = await appending;
    metrics?.appendEnded(result.type, monotonic() - startedAt);
    return result;
  } catch (error) {
    metrics?.appendEnded("failed", monotonic() - startedAt);
    throw error;
  }
}
