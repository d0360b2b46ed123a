/**
 * Group commit of fenced writes (DESIGN §6): the writes of all plans in a process go out in one unordered bulk at a
 * time; the next bulk collects while the last is under way.
 *
 * 1. A write is acknowledged only when its bulk was (majority, journalled) and it is known to have matched.
 * 2. Writes to one document go out in the order in which they were given: a bulk holds at most one of each document, and
 *    a document that is under way waits. A write given while an earlier one of the same document still waits is merged
 *    into it: its fields win, and both are acknowledged together.
 * 3. Writes are idempotent (`$set` under a fence, named by a writeId), so a bulk whose answer was lost is sent again.
 */
import type { AnyBulkWriteOperation, Collection, Document, Filter, UpdateFilter } from "mongodb";
import { LeaseLostError, StoreUnavailableError } from "./errors.ts";

/** One fenced write of fields of one document. */
export interface GroupWrite {
  id: string;
  epoch: number;
  set: Document;
  /** The whole document when it may not exist yet; then `set` is put over it. */
  insert?: Document | undefined;
}

interface Pending extends GroupWrite {
  writeId: string;
  settle: { resolve: () => void; reject: (error: Error) => void }[];
}

/** Options of {@link createGroupCommit}. */
export interface GroupCommitOptions {
  /** Fields that must match beside `_id`, for a write with this epoch. */
  fence: (epoch: number) => Document;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** Writes in one bulk, at most. Default 1,000. */
  maxBatch?: number | undefined;
  /** How long a bulk is sent again while MongoDB does not answer, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/** Writers share bulks through this. */
export interface GroupCommit {
  /** Durable when it resolves. @throws {LeaseLostError | StoreUnavailableError} */
  write(write: GroupWrite): Promise<void>;
  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void>;
  /** Bulks sent and writes acknowledged so far, for metrics and benchmarks. */
  counts(): { bulks: number; writes: number };
}

/** A group commit over one collection whose documents carry `writeId`. */
export function createGroupCommit<T extends Document>(
  collection: Collection<T>,
  options: GroupCommitOptions,
): GroupCommit {
  const { fence, owner, maxBatch = 1_000, retryForMs = 30_000, retryEveryMs = 250 } = options;
  const waiting = new Map<string, Pending>();
  let underWay: Promise<void> | null = null;
  let sequence = 0;
  let bulks = 0;
  let writes = 0;

  function write(entry: GroupWrite): Promise<void> {
    return new Promise((resolve, reject) => {
      const earlier = waiting.get(entry.id);
      if (earlier && earlier.epoch === entry.epoch) {
        Object.assign(earlier.set, entry.set);
        earlier.settle.push({ resolve, reject });
        return;
      }
      if (earlier) {
        // A newer claim in the same process: the older write would be fenced off anyway.
        for (const waiter of earlier.settle) {
          waiter.reject(new LeaseLostError({ id: entry.id, epoch: earlier.epoch }));
        }
      }
      sequence += 1;
      const writeId = `${owner}:${sequence}`;
      waiting.set(entry.id, { ...entry, set: { ...entry.set }, writeId, settle: [{ resolve, reject }] });
      underWay ??= drain();
    });
  }

  /** Runs while anything waits. Starts a turn later, so that everything of the same turn shares the first bulk. */
  async function drain(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const batch: Pending[] = [];
      for (const [id, entry] of waiting) {
        batch.push(entry);
        waiting.delete(id);
        if (batch.length === maxBatch) break;
      }
      await commit(batch);
    }
    underWay = null;
  }

  async function commit(batch: Pending[]): Promise<void> {
    try {
      const refused = await send(batch);
      writes += batch.length;
      for (const entry of batch) {
        for (const waiter of entry.settle) {
          if (refused.has(entry.id)) waiter.reject(new LeaseLostError({ id: entry.id, epoch: entry.epoch }));
          else waiter.resolve();
        }
      }
    } catch (error) {
      const failure = new StoreUnavailableError({ operation: "group commit" }, error);
      for (const entry of batch) for (const waiter of entry.settle) waiter.reject(failure);
    }
  }

  /** Ids of the writes that the fence refused. Sends again while MongoDB is away (invariant 3). */
  async function send(batch: Pending[]): Promise<Set<string>> {
    const operations = batch.map(toOperation);
    const giveUpAt = performance.now() + retryForMs;
    for (;;) {
      try {
        bulks += 1;
        const result = await collection.bulkWrite(operations, { ordered: false });
        if (result.matchedCount + result.upsertedCount === batch.length) return new Set();
        return await findRefused(batch);
      } catch (error) {
        if (isDuplicateKey(error)) return await findRefused(batch);
        if (performance.now() > giveUpAt || !isTransient(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
      }
    }
  }

  function toOperation(entry: Pending): AnyBulkWriteOperation<T> {
    const filter = { _id: entry.id, ...fence(entry.epoch) } as Document as Filter<T>;
    const set = { ...entry.set, writeId: entry.writeId };
    if (!entry.insert) {
      return { updateOne: { filter, update: { $set: set } as Document as UpdateFilter<T> } };
    }
    const { _id, ...rest } = entry.insert;
    const onInsert = Object.fromEntries(
      Object.entries(rest).filter(([field]) => !(field in set) && field !== "epoch"),
    );
    const update = { $set: set, $setOnInsert: onInsert } as Document as UpdateFilter<T>;
    return { updateOne: { filter, update, upsert: true } };
  }

  async function findRefused(batch: Pending[]): Promise<Set<string>> {
    const filter = { _id: { $in: batch.map((entry) => entry.id) } } as Document as Filter<T>;
    const found = new Map<string, unknown>();
    for await (const document of collection.find(filter, { projection: { writeId: 1 } })) {
      found.set(String(document._id), document["writeId"]);
    }
    return new Set(batch.filter((entry) => found.get(entry.id) !== entry.writeId).map((entry) => entry.id));
  }

  return {
    write,
    async idle() {
      while (underWay) await underWay;
    },
    counts: () => ({ bulks, writes }),
  };
}

const DUPLICATE_KEY = 11_000;

function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/** Everything but a refusal by the server of what was asked: those have a code, and sending them again helps nobody. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (["MongoNetworkError", "MongoNetworkTimeoutError", "MongoServerSelectionError"].includes(error.name))
    return true;
  if (["MongoOperationTimeoutError", "MongoPoolClearedError", "MongoNotConnectedError"].includes(error.name))
    return true;
  const cause = error.cause ?? ("errorResponse" in error ? error.errorResponse : undefined);
  return RETRYABLE_SERVER_CODES.has(codeOf(error) ?? codeOf(cause) ?? -1);
}

/** Not primary, shutting down, interrupted by a step-down, write concern or time limit not met. */
const RETRYABLE_SERVER_CODES = new Set([
  6, 7, 50, 64, 89, 91, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}
