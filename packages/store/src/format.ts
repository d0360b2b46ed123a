/**
 * The format of a database, and how a database of an earlier one becomes one of this.
 *
 * 1. A format has a number, which is raised with a change of documents that a program of the number before cannot
 *    make sense of. Each number from {@link FIRST_FORMAT} on has a conversion to the next.
 * 2. One process converts, under a lease in the document of the format; the others wait for it. A conversion goes
 *    in small batches, each of which may be repeated, so another process continues where one died.
 * 3. Processes of the number before may still run, because a rolling upgrade replaces one after another. So a
 *    conversion changes only what they do not read, and work that they must not do names the least format that
 *    can do it (`minFormat`): a claim leaves out what names a later one.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { BSON, type ClientSession, type Collection, type Db, type Document } from "mongodb";
import { type Collections, DATABASE_FORMAT } from "./database/collections.ts";
import { isDuplicateKey } from "./database/transient-errors.ts";
import { entryIdOf } from "./journal/entry-log.ts";
import { followOneByOne, type HeadWrite } from "./journal/pending-write.ts";
import { DatabaseFormatError, RESTORING } from "./records/errors.ts";

/** The earliest format that can be converted. */
const FIRST_FORMAT = 6;

/** Format of databases that were written before formats had numbers. */
const UNNUMBERED = 1;

/** The step from one format to the next. */
export interface Conversion {
  /** The format that it reads; it makes the next number. */
  from: number;
  /** What it changes, for people: "the outbox of changes that were not complete". */
  what: string;
  countLeft(database: Database): Promise<number>;
  /**
   * Converts some documents, at most about a second's work. A repeat after a crash changes nothing.
   * @returns how many; 0 when none is left
   */
  convertSome(database: Database): Promise<number>;
}

/** A database whose processes are not started. */
export interface Database {
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
  for (;;) {
    const version = (await findFormat(db)) ?? (await setFormat(db, format));
    const [conversion] = conversionsOf(db, version, { conversions, format });
    if (!conversion) return;
    const { from, what } = conversion;
    const tell = (progress: Pick<ConversionProgress, "done" | "left" | "isElsewhere">): void =>
      onProgress?.({ from, to: from + 1, what, ...progress });
    const lease = await takeConversion(db, version, leaseMs);
    if (lease) await convert(database, conversion, lease, tell);
    else {
      tell({ done: 0, left: await conversion.countLeft(database), isElsewhere: true });
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
  const found = await findFormat(db);
  const pending = conversionsOf(db, found ?? expected, { conversions: CONVERSIONS, format: expected });
  const conversions = pending.map(async (conversion) => {
    const { from, what } = conversion;
    return { to: from + 1, what, left: await conversion.countLeft(database) };
  });
  return { found, expected, conversions: await Promise.all(conversions) };
}

/** The conversions from one format to another, in their order. @throws {DatabaseFormatError} when there is no way */
function conversionsOf(
  db: Db,
  found: number,
  { conversions, format }: Required<Pick<FormatOptions, "conversions" | "format">>,
): readonly Conversion[] {
  const first = conversions.findIndex(({ from }) => from === found);
  if (found === format) return [];
  if (found > format || first < 0)
    throw new DatabaseFormatError({ database: db.databaseName, found, expected: format });
  return conversions.slice(first);
}

function metaOf(db: Db): Collection<FormatDocument> {
  return db.collection<FormatDocument>("meta");
}

/** The format number of a database; null for a new one. */
export async function findFormat(db: Db, session?: ClientSession): Promise<number | null> {
  const found = await metaOf(db).findOne({ _id: "format" }, { ...(session && { session }) });
  if (found) return found.version;
  const used = await db
    .collection("requests")
    .findOne({}, { projection: { _id: 1 }, ...(session && { session }) });
  return used ? UNNUMBERED : null;
}

/** Marks an empty database, so that no process opens it before the restore has ended. False when it is not empty. */
export async function beginRestore(db: Db): Promise<boolean> {
  const format = { _id: "format" as const, version: RESTORING };
  const inserted = await metaOf(db).insertOne(format).catch(nullIfDuplicate);
  return inserted !== null;
}

/**
 * Does the work of the conversions that the restored format needs, because it may make work due; then what is to be
 * done with all work, and only then gives the database its format.
 */
export async function endRestore<Done>(
  database: Database,
  format: number,
  whenSettled: () => Promise<Done>,
): Promise<Done> {
  const { db } = database;
  const pending = conversionsOf(db, format, { conversions: CONVERSIONS, format: DATABASE_FORMAT });
  for (const conversion of pending) while ((await conversion.convertSome(database)) > 0);
  const done = await whenSettled();
  await metaOf(db).updateOne({ _id: "format" }, { $set: { version: format } });
  return done;
}

function nullIfDuplicate(error: unknown): null {
  if (isDuplicateKey(error)) return null;
  throw error;
}

/** Gives a new database its format number. @returns that of another process when it was first */
async function setFormat(db: Db, version: number): Promise<number> {
  await metaOf(db).insertOne({ _id: "format", version }).catch(nullIfDuplicate);
  return (await findFormat(db)) ?? version;
}

/** The right to convert, which ends when it is not renewed. */
type ConversionLease = NonNullable<Awaited<ReturnType<typeof takeConversion>>>;

/** @returns undefined while another process converts, and when the format has changed */
async function takeConversion(db: Db, version: number, leaseMs: number) {
  const meta = metaOf(db);
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
    /** False when it has ended, and another process may convert. */
    renew: () => asOwner({ converter: { owner, until } }),
    /** Gives the database the next number, and ends the lease; does nothing when it has ended. */
    complete: () => asOwner({ version: version + 1, converter: null }),
  };
}

async function convert(
  database: Database,
  conversion: Conversion,
  lease: ConversionLease,
  tell: (progress: { done: number; left: number; isElsewhere: boolean }) => void,
): Promise<void> {
  // Counted once: a count reads every document that is left.
  let left = await conversion.countLeft(database);
  let done = 0;
  tell({ done, left, isElsewhere: false });
  for (;;) {
    const converted = await conversion.convertSome(database);
    if (converted === 0) break;
    done += converted;
    left = Math.max(0, left - converted);
    if (!(await lease.renew())) return;
    tell({ done, left, isElsewhere: false });
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

type EarlierWrite = Pick<HeadWrite, "collection"> &
  (
    | { insert: Document & { _id: string } }
    | ({ filter: Document } & ({ set: Document; stamps?: string[] } | { expressions: Document }))
  );

function outboxOf(db: Db): Collection<OutboxDocument> {
  return db.collection<OutboxDocument>("outbox");
}

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
