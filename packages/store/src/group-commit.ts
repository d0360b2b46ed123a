/**
 * Group commit of conditional writes (DESIGN §6): the writes of everything that a process works on go out in unordered bulks
 * over all collections. While much is under way the next bulk collects; while little is, nobody waits for the bulk of others.
 *
 * 1. A write is answered only when its bulk was acknowledged (majority, journalled) and it is known whether it matched.
 * 2. Writes to one document go out one after the other in the order in which they were given.
 *    Plain sets under the same condition that wait together are merged: the later fields win, both are answered together.
 * 3. Each write is named by a `writeId` that it leaves in its document, so a bulk whose answer was lost is sent again and
 *    what was refused can be told from what was done the first time. The driver's own retries are not needed: they cost
 *    MongoDB a record of every write.
 * 4. A write that cannot be stored at all fails alone: it takes none of its bulk with it.
 * 5. A write that waits for a lock, such as that of a transaction whose process died, holds up no other for long.
 */
import { type ClientBulkWriteModel, type Document, type MongoClient } from "mongodb";
import { StoreUnavailableError, WriteNotPossibleError } from "./errors.ts";
import { isTimeLimit, isTransient } from "./transient-errors.ts";

/** The collections whose documents carry a `writeId`. */
export type GroupedCollection = "requests" | "plans" | "steps";

interface Target {
  collection: GroupedCollection;
  id: string;
  /** What must hold of the document beside its id. */
  condition: Document;
}

/** Sets fields to values: cheaper for MongoDB than an update with expressions. */
export interface GroupSet extends Target {
  set: Document;
  /** Fields that are set to the server's time. */
  stamps?: readonly string[] | undefined;
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
  /** How long a bulk may wait for locks before its writes go out one by one, in milliseconds. Default 2,500. */
  stuckAfterMs?: number | undefined;
  /** Told of each bulk that was acknowledged, with the writes in it. Default: nobody is. */
  onBulk?: ((writes: number) => void) | undefined;
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

type Body = { set: Document; stamps: ReadonlySet<string> } | { expressions: Document };

interface Pending extends Target {
  key: string;
  body: Body;
  writeId: string;
  settle: { resolve: (matched: boolean) => void; reject: (error: Error) => void }[];
}

/** With no more writes than this under way, others do not wait for their end. */
const CALM_WRITES = 8;

/** A group commit through one client, made with `retryWrites: false` and the write concern of every write here. */
export function createGroupCommit(client: MongoClient, options: GroupCommitOptions): GroupCommit {
  const { database, owner, maxBatch = 1_000, retryForMs = 30_000, retryEveryMs = 250 } = options;
  const { stuckAfterMs = 2_500, onBulk } = options;
  /** By document; the first of each queue goes with the next bulk. */
  const waiting = new Map<string, Pending[]>();
  /** Documents with a write under way. */
  const busy = new Set<string>();
  /** Resolved when nothing waits or is under way. */
  let waitingForIdle: (() => void)[] = [];
  let isAboutToSend = false;
  let sequence = 0;
  let bulks = 0;
  let writes = 0;

  function enqueue(target: Target, body: Body): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const { collection, id, condition } = target;
      const key = `${collection}/${id}`;
      const queue = waiting.get(key) ?? [];
      const last = queue.at(-1);
      const merged = last && isSame(condition, last.condition) ? mergedBody(last.body, body) : undefined;
      if (last && merged) {
        last.body = merged;
        last.settle.push({ resolve, reject });
        return;
      }
      sequence += 1;
      const writeId = `${owner}:${sequence}`;
      queue.push({ key, collection, id, condition, body, writeId, settle: [{ resolve, reject }] });
      waiting.set(key, queue);
      sendSoon();
    });
  }

  /** A turn later, so that everything of the same turn shares the first bulk. */
  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    setImmediate(() => {
      isAboutToSend = false;
      while (busy.size <= CALM_WRITES) {
        const batch = nextBatch();
        if (batch.length === 0) break;
        for (const { key } of batch) busy.add(key);
        void commit(batch);
      }
      if (waiting.size > 0 || busy.size > 0) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  function nextBatch(): Pending[] {
    const batch: Pending[] = [];
    for (const [key, queue] of waiting) {
      if (busy.has(key)) continue;
      const first = queue.shift();
      if (first) batch.push(first);
      if (queue.length === 0) waiting.delete(key);
      if (batch.length === maxBatch) break;
    }
    return batch;
  }

  /** @param isRepeat - the batch may have been done already, in part or as a whole */
  async function commit(batch: Pending[], isRepeat = false): Promise<void> {
    try {
      const done = await send(batch, isRepeat);
      bulks += 1;
      writes += batch.length;
      onBulk?.(batch.length);
      for (const entry of batch) settle(entry, (waiter) => waiter.resolve(done.has(entry)));
    } catch (error) {
      if (batch.length > 1 && isTimeLimit(error)) {
        await Promise.all(batch.map((entry) => commit([entry], true)));
        return;
      }
      if (batch.length > 1 && !isTransient(error)) {
        for (const entry of batch) await commit([entry], true);
        return;
      }
      const failure = isTransient(error)
        ? new StoreUnavailableError({ operation: "group commit" }, error)
        : new WriteNotPossibleError({ ids: batch.map(({ id }) => id) }, error);
      for (const entry of batch) settle(entry, (waiter) => waiter.reject(failure));
    }
  }

  function settle(entry: Pending, answer: (waiter: Pending["settle"][number]) => void): void {
    for (const waiter of entry.settle) answer(waiter);
    busy.delete(entry.key);
    sendSoon();
  }

  /** The entries that are done. Sends again while MongoDB is away (invariant 3). */
  async function send(batch: Pending[], wasSent: boolean): Promise<Set<Pending>> {
    const models = batch.map((entry) => toModel(entry, database));
    const settings = { ordered: false, verboseResults: true, maxTimeMS: stuckAfterMs } as const;
    const giveUpAt = performance.now() + retryForMs;
    for (let isRepeat = wasSent; ; isRepeat = true) {
      try {
        const result = await client.bulkWrite<Schemas>(models, settings);
        const matched = batch.filter((_, index) => result.updateResults?.get(index)?.matchedCount === 1);
        if (!isRepeat || matched.length === batch.length) return new Set(matched);
        return await findDone(batch);
      } catch (error) {
        if (performance.now() > giveUpAt || !isTransient(error)) throw error;
        if (batch.length > 1 && isTimeLimit(error)) throw error;
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
    set: ({ set, stamps = [], ...target }) => enqueue(target, { set, stamps: new Set(stamps) }),
    update: ({ expressions, ...target }) => enqueue(target, { expressions }),
    idle: () =>
      new Promise((resolve) => {
        waitingForIdle.push(resolve);
        sendSoon();
      }),
    counts: () => ({ bulks, writes }),
  };
}

function isSame(a: Document, b: Document): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Both as one, or nothing when they cannot be. What is set later wins, also over a stamp. */
function mergedBody(first: Body, second: Body): Body | undefined {
  if (!("set" in first) || !("set" in second)) return undefined;
  const stamps = [...first.stamps].filter((field) => !Object.hasOwn(second.set, field));
  const set = Object.fromEntries(Object.entries(first.set).filter(([field]) => !second.stamps.has(field)));
  return { set: { ...set, ...second.set }, stamps: new Set([...stamps, ...second.stamps]) };
}

function toModel(entry: Pending, database: string): ClientBulkWriteModel<Schemas> {
  const { body, writeId } = entry;
  const target = {
    name: "updateOne" as const,
    namespace: `${database}.${entry.collection}`,
    filter: { _id: entry.id, ...entry.condition },
  };
  if ("expressions" in body) return { ...target, update: [{ $set: { ...body.expressions, writeId } }] };
  const $set = { ...body.set, writeId };
  if (body.stamps.size === 0) return { ...target, update: { $set } };
  const $currentDate: Document = Object.fromEntries([...body.stamps].map((field) => [field, true]));
  return { ...target, update: { $set, $currentDate } };
}
