/**
 * The format of a database, and how a database of an earlier one becomes one of this.
 *
 * 1. A format has a number, which is raised with a change of documents that a program of the number before cannot
 *    make sense of. Each number from {@link FIRST_FORMAT} on has a conversion to the next.
 * 2. One process converts, under a lease in the document of the format; the others wait for it. A conversion goes
 *    in small batches, each of which may be repeated, so another process goes on where one died.
 * 3. Processes of the number before may still run, because a rolling upgrade replaces one after another. So a
 *    conversion changes only what they do not read, and work that they must not do names the least format that
 *    can do it (`minFormat`): a claim leaves out what names a later one.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { BSON, type Collection, type Db, type Document } from "mongodb";
import { entryIdOf } from "../journal/entry-log.ts";
import { followOneByOne, type HeadWrite } from "../journal/pending-write.ts";
import { DatabaseFormatError } from "../records/errors.ts";
import type { Collections } from "./collections.ts";
import { isDuplicateKey } from "./transient-errors.ts";

/** Number of the format that this program writes. */
export const DATABASE_FORMAT = 7;

/** The earliest format that can be converted. */
const FIRST_FORMAT = 6;

/** Format of databases that were written before formats had numbers. */
const UNNUMBERED = 1;

/** Expression: a program of this format may do the work. */
export const CAN_DO_WORK = { $lte: [{ $ifNull: ["$minFormat", 0] }, DATABASE_FORMAT] };

/** The step from one format to the next. */
export interface Conversion {
  /** The format that it reads; it makes the next number. */
  from: number;
  /** What it changes, for people: "the outbox of changes that were not complete". */
  what: string;
  /** How many documents are still to be converted. */
  countLeft(database: Database): Promise<number>;
  /**
   * Converts some documents, at most about a second's work. A repeat after a crash changes nothing.
   * @returns how many; 0 when none is left
   */
  convertSome(database: Database): Promise<number>;
}

/** A database that is not open yet. */
interface Database {
  db: Db;
  collections: Collections;
}

/** How far a conversion is. */
export interface ConversionProgress {
  from: number;
  to: number;
  what: string;
  done: number;
  left: number;
  /** True when another process converts, and this one waits. */
  isElsewhere: boolean;
}

interface FormatDocument {
  _id: "format";
  version: number;
  /** The process that converts to the next format. */
  converter?: { owner: string; until: Date } | null;
}

/** Settings of {@link prepareFormat}. Defaults: the conversions and the number of this program. */
interface FormatOptions {
  onProgress?: ((progress: ConversionProgress) => void) | undefined;
  conversions?: readonly Conversion[];
  format?: number;
  /** How long a lease lasts after each batch, and how long a process waits before it looks again. */
  leaseMs?: number;
  lookEveryMs?: number;
}

/**
 * Gives a new database its format number, and converts one of an earlier format. Resolves when the database has
 * this program's format.
 * @throws {DatabaseFormatError} for a later format, which only a later program reads, and for one that is too old
 */
export async function prepareFormat(
  database: Database,
  {
    onProgress,
    conversions = CONVERSIONS,
    format = DATABASE_FORMAT,
    leaseMs = 30_000,
    lookEveryMs = 500,
  }: FormatOptions = {},
): Promise<void> {
  const { db } = database;
  const meta = metaOf(db);
  for (;;) {
    const version = await readFormat(db, format);
    if (version === format) return;
    const conversion = conversions.find(({ from }) => from === version);
    if (version > format || !conversion)
      throw new DatabaseFormatError({ database: db.databaseName, found: version, expected: format });
    const tell = async (done: number, isElsewhere: boolean): Promise<void> => {
      const { from, what } = conversion;
      const left = await conversion.countLeft(database);
      onProgress?.({ from, to: from + 1, what, done, left, isElsewhere });
    };
    const lease = await takeConversion(meta, version, leaseMs);
    if (lease) await convert(database, conversion, lease, tell);
    else {
      await tell(0, true);
      await delay(lookEveryMs);
    }
  }
}

/** What {@link inspectFormat} found. */
export interface FormatFacts {
  /** Null: no Planwright has used the database. */
  found: number | null;
  expected: number;
  /** What a start of this program would convert. */
  conversions: { to: number; what: string; left: number }[];
}

/** Reads what {@link prepareFormat} would do, and changes nothing. @throws {DatabaseFormatError} as it does */
export async function inspectFormat(database: Database): Promise<FormatFacts> {
  const { db } = database;
  const expected = DATABASE_FORMAT;
  const numbered = await metaOf(db).findOne({ _id: "format" });
  const found = numbered?.version ?? (await formatOfUnnumbered(db));
  if (found === null || found === expected) return { found, expected, conversions: [] };
  if (found > expected || found < FIRST_FORMAT)
    throw new DatabaseFormatError({ database: db.databaseName, found, expected });
  const conversions = CONVERSIONS.filter(({ from }) => from >= found).map(async (conversion) => {
    const { from, what } = conversion;
    return { to: from + 1, what, left: await conversion.countLeft(database) };
  });
  return { found, expected, conversions: await Promise.all(conversions) };
}

function metaOf(db: Db): Collection<FormatDocument> {
  return db.collection<FormatDocument>("meta");
}

/** The format number of a database; a new one gets it here. */
async function readFormat(db: Db, format: number): Promise<number> {
  const meta = metaOf(db);
  const found = await meta.findOne({ _id: "format" });
  if (found) return found.version;
  const unnumbered = await formatOfUnnumbered(db);
  if (unnumbered !== null) return unnumbered;
  await meta.insertOne({ _id: "format", version: format }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
  // A process of another version may have been first.
  return (await meta.findOne({ _id: "format" }))?.version ?? format;
}

/** Null for a new database. */
async function formatOfUnnumbered(db: Db): Promise<number | null> {
  const used = await db.collection("requests").findOne({}, { projection: { _id: 1 } });
  return used ? UNNUMBERED : null;
}

/** The right to convert, which ends when it is not renewed. */
interface ConversionLease {
  /** False when it has ended, and another process may convert. */
  renew(): Promise<boolean>;
  /** Gives the database the next number, and ends the lease; does nothing when it has ended. */
  complete(): Promise<boolean>;
}

/** @returns undefined while another process converts, and when the format has changed */
async function takeConversion(
  meta: Collection<FormatDocument>,
  version: number,
  leaseMs: number,
): Promise<ConversionLease | undefined> {
  const owner = randomUUID();
  const until = { $add: ["$$NOW", leaseMs] };
  const isFree = { $lt: [{ $ifNull: ["$converter.until", new Date(0)] }, "$$NOW"] };
  const taken = await meta.updateOne({ _id: "format", version, $expr: isFree }, [
    { $set: { converter: { owner, until } } },
  ]);
  if (taken.matchedCount === 0) return undefined;
  const asOwner = async (change: Document): Promise<boolean> => {
    const isOwn = { _id: "format" as const, version, "converter.owner": owner };
    return (await meta.updateOne(isOwn, [{ $set: change }])).matchedCount > 0;
  };
  return {
    renew: () => asOwner({ converter: { owner, until } }),
    complete: () => asOwner({ version: version + 1, converter: null }),
  };
}

/** Converts until nothing is left, or until the lease has ended. */
async function convert(
  database: Database,
  conversion: Conversion,
  lease: ConversionLease,
  tell: (done: number, isElsewhere: boolean) => Promise<void>,
): Promise<void> {
  let done = 0;
  await tell(done, false);
  for (;;) {
    const converted = await conversion.convertSome(database);
    if (converted === 0) break;
    done += converted;
    if (!(await lease.renew())) return;
    await tell(done, false);
  }
  await lease.complete();
}

/** A document of the outbox: the writes that follow from the entry with this `writeId`, until they are done. */
interface OutboxDocument {
  _id: string;
  requestId: string;
  /** `{following: [..]}` as BSON. */
  writes: Uint8Array | InstanceType<typeof BSON.Binary>;
}

/** A write in such a document. */
type EarlierWrite = Pick<HeadWrite, "collection"> &
  (
    | { insert: Document & { _id: string } }
    | ({ filter: Document } & ({ set: Document; stamps?: string[] } | { expressions: Document }))
  );

function outboxOf(db: Db): Collection<OutboxDocument> {
  return db.collection<OutboxDocument>("outbox");
}

/** Documents of the outbox that are settled in one batch. */
const OUTBOX_BATCH = 100;

/**
 * Does what a program of format 6 left undone when it died: its changes of requests were not one transaction, and
 * the writes behind an entry were kept in the collection `outbox` until they were done. Documents without an entry
 * belong to changes that were never made.
 */
async function settleOutbox({ db, collections }: Database): Promise<number> {
  const batch = await outboxOf(db).find().limit(OUTBOX_BATCH).toArray();
  for (const kept of batch) await settleKept(collections, kept);
  await outboxOf(db).deleteMany({ _id: { $in: batch.map(({ _id }) => _id) } });
  return batch.length;
}

async function settleKept(collections: Collections, kept: OutboxDocument): Promise<void> {
  const { _id: writeId, requestId } = kept;
  const entry = await collections.journal.findOne(
    { requestId, writeId, _id: { $gt: `${requestId}/`, $lt: `${requestId}/:` } },
    { projection: { requestId: 1, seq: 1 } },
  );
  if (!entry) return;
  const request = await collections.requests.findOne(
    { _id: entry.requestId as never },
    { projection: { _id: 1 } },
  );
  // A request that was removed meanwhile gets nothing back.
  if (request) await followOneByOne(collections, writesOf(kept));
  else await collections.journal.deleteOne({ _id: entryIdOf(entry), writeId });
}

function writesOf({ writes }: OutboxDocument): HeadWrite[] {
  const bytes = writes instanceof BSON.Binary ? writes.value() : writes;
  const kept: EarlierWrite[] = BSON.deserialize(bytes as Uint8Array)["following"];
  return kept.map((write) => {
    if ("insert" in write) return write as HeadWrite;
    const { collection, filter, ...change } = write;
    const { _id: id, ...condition } = filter;
    const target = { collection, id: String(id), condition };
    if ("expressions" in change) return { ...target, expressions: change.expressions } as HeadWrite;
    const stamped = (change.stamps ?? []).map((field) => [field, new Date()]);
    return { ...target, set: { ...change.set, ...Object.fromEntries(stamped) } } as HeadWrite;
  });
}

/** The conversions of this program, each from one format to the next. */
export const CONVERSIONS: readonly Conversion[] = [
  {
    from: FIRST_FORMAT,
    what: "changes that a killed process left in the outbox",
    countLeft: ({ db }) => outboxOf(db).countDocuments(),
    convertSome: settleOutbox,
  },
];
