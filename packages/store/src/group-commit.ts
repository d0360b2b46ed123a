/**
 * Group commit of conditional writes (DESIGN §6): the writes of everything that a process works on go out in one
 * unordered bulk at a time, over all collections; the next bulk collects while the last is under way.
 *
 * 1. A write is answered only when its bulk was acknowledged (majority, journalled) and it is known whether it matched.
 * 2. Writes to one document go out in the order in which they were given: a bulk holds at most one of each document.
 *    Plain sets under the same condition that wait together are merged: the later fields win, both are answered together.
 * 3. Each write is named by a `writeId` that it leaves in its document, so a bulk whose answer was lost is sent again and
 *    what was refused can be told from what was done the first time.
 * 4. A write that cannot be stored at all fails alone: it takes none of its bulk with it.
 */
import { type ClientBulkWriteModel, type Document, type MongoClient } from "mongodb";
import { StoreUnavailableError, WriteNotPossibleError } from "./errors.ts";
import { isTransient } from "./transient-errors.ts";

/** The collections whose documents carry a `writeId`. */
export type GroupedCollection = "requests" | "plans" | "steps";

interface Target {
  collection: GroupedCollection;
  id: string;
  /** What must hold of the document beside its id. */
  condition: Document;
}

/** Sets fields to values. */
export interface GroupSet extends Target {
  set: Document;
}

/** Sets fields to expressions that MongoDB computes. */
export interface GroupUpdate extends Target {
  expressions: Document;
}

/** Options of {@link createGroupCommit}. */
export interface GroupCommitOptions {
  database: string;
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
  /** True once it is durable, false when the condition did not hold. @throws {StoreUnavailableError | WriteNotPossibleError} */
  set(write: GroupSet): Promise<boolean>;
  /** The same with expressions of an update pipeline. @throws {StoreUnavailableError | WriteNotPossibleError} */
  update(write: GroupUpdate): Promise<boolean>;
  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void>;
  /** Bulks acknowledged and writes in them so far, for metrics and benchmarks. */
  counts(): { bulks: number; writes: number };
}

type StringKeyed = Document & { _id: string };
/** The driver types what it writes by namespace. */
type Schemas = Record<string, StringKeyed>;

interface Pending extends Target {
  body: { set: Document } | { expressions: Document };
  writeId: string;
  settle: { resolve: (matched: boolean) => void; reject: (error: Error) => void }[];
}

/** A group commit through one client. */
export function createGroupCommit(client: MongoClient, options: GroupCommitOptions): GroupCommit {
  const { database, owner, maxBatch = 1_000, retryForMs = 30_000, retryEveryMs = 250 } = options;
  /** By document; the first of each queue goes with the next bulk. */
  const waiting = new Map<string, Pending[]>();
  let underWay: Promise<void> | null = null;
  let sequence = 0;
  let bulks = 0;
  let writes = 0;

  function enqueue(target: Target, body: Pending["body"]): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const key = `${target.collection}/${target.id}`;
      const queue = waiting.get(key) ?? [];
      const last = queue.at(-1);
      if (last && mayMerge(last, target, body)) {
        Object.assign(last.body.set, "set" in body ? body.set : {});
        last.settle.push({ resolve, reject });
        return;
      }
      sequence += 1;
      const { collection, id, condition } = target;
      const writeId = `${owner}:${sequence}`;
      queue.push({ collection, id, condition, body, writeId, settle: [{ resolve, reject }] });
      waiting.set(key, queue);
      underWay ??= drain();
    });
  }

  /** Runs while anything waits. Starts a turn later, so that everything of the same turn shares the first bulk. */
  async function drain(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) await commit(nextBatch());
    underWay = null;
  }

  function nextBatch(): Pending[] {
    const batch: Pending[] = [];
    for (const [key, queue] of waiting) {
      const first = queue.shift();
      if (first) batch.push(first);
      if (queue.length === 0) waiting.delete(key);
      if (batch.length === maxBatch) break;
    }
    return batch;
  }

  async function commit(batch: Pending[]): Promise<void> {
    try {
      const done = await send(batch);
      bulks += 1;
      writes += batch.length;
      for (const entry of batch) for (const waiter of entry.settle) waiter.resolve(done.has(entry));
    } catch (error) {
      if (batch.length > 1 && !isTransient(error)) {
        for (const entry of batch) await commit([entry]);
        return;
      }
      const failure = isTransient(error)
        ? new StoreUnavailableError({ operation: "group commit" }, error)
        : new WriteNotPossibleError({ ids: batch.map(({ id }) => id) }, error);
      for (const entry of batch) for (const waiter of entry.settle) waiter.reject(failure);
    }
  }

  /** The entries that are done. Sends again while MongoDB is away (invariant 3). */
  async function send(batch: Pending[]): Promise<Set<Pending>> {
    const models = batch.map((entry) => toModel(entry, database));
    const giveUpAt = performance.now() + retryForMs;
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        const result = await client.bulkWrite<Schemas>(models, { ordered: false, verboseResults: true });
        const matched = batch.filter((_, index) => result.updateResults?.get(index)?.matchedCount === 1);
        if (!isRepeat || matched.length === batch.length) return new Set(matched);
        return await findDone(batch);
      } catch (error) {
        if (performance.now() > giveUpAt || !isTransient(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
      }
    }
  }

  /** Tells by the writeIds what was done, by whichever sending. */
  async function findDone(batch: Pending[]): Promise<Set<Pending>> {
    const found = new Map<string, unknown>();
    for (const collection of new Set(batch.map((entry) => entry.collection))) {
      const ids = batch.flatMap((entry) => (entry.collection === collection ? [entry.id] : []));
      const documents = client
        .db(database)
        .collection<{ _id: string; writeId: string | null }>(collection)
        .find({ _id: { $in: ids } }, { projection: { writeId: 1 } });
      for await (const { _id, writeId } of documents) found.set(`${collection}/${_id}`, writeId);
    }
    return new Set(batch.filter((entry) => found.get(`${entry.collection}/${entry.id}`) === entry.writeId));
  }

  return {
    set: ({ set, ...target }) => enqueue(target, { set: { ...set } }),
    update: ({ expressions, ...target }) => enqueue(target, { expressions }),
    async idle() {
      while (underWay) await underWay;
    },
    counts: () => ({ bulks, writes }),
  };
}

function mayMerge(
  last: Pending,
  target: Target,
  body: Pending["body"],
): last is Pending & { body: { set: Document } } {
  if (!("set" in last.body) || !("set" in body)) return false;
  return JSON.stringify(last.condition) === JSON.stringify(target.condition);
}

function toModel(entry: Pending, database: string): ClientBulkWriteModel<Schemas> {
  const { body, writeId } = entry;
  const target = {
    name: "updateOne" as const,
    namespace: `${database}.${entry.collection}`,
    filter: { _id: entry.id, ...entry.condition },
  };
  if ("expressions" in body) return { ...target, update: [{ $set: { ...body.expressions, writeId } }] };
  return { ...target, update: { $set: { ...body.set, writeId } } };
}
