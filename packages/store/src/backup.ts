/**
 * A backup of a database in one file, and its restore into an empty database.
 *
 * 1. A backup reads one snapshot, so it shows one point in time although services write. As after a crash, journals
 *    are complete at that point, and the next owner of the work completes what follows them.
 * 2. The file is checked as a whole before anything is written: one that was cut or changed restores nothing.
 * 3. A restored database does not know which calls were made after the backup. So a restore pauses every plan that had
 *    not ended, and a plan that is still to be made does not start on its own: nothing acts before it is named.
 * 4. Until all that is done the database has a format that no program opens.
 *
 * The file is a gzip stream of BSON documents: a header; for each collection its name, its documents and a separator; a
 * second separator; a trailer with the counts and the SHA-256 of everything before it.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { STARTED_PLAN_STATUSES } from "@planwright/plan";
import { BSON, type Db, type Document, MongoServerError } from "mongodb";
import { z } from "zod";
import { type Collections, createIndexes, DATABASE_FORMAT } from "./database/collections.ts";
import { beginRestore, type Database, endRestore, findFormat, inspectFormat } from "./format.ts";
import { BackupFileError, DatabaseNotEmptyError, SnapshotLostError } from "./records/errors.ts";
import { withControls } from "./requests/ask-control.ts";
import { IS_TO_BE_PAUSED, pausedSince } from "./requests/create-control-store.ts";

/** Number of the layout of the file. */
const FILE_FORMAT = 1;
/** Live processes are not restored, and the format is in the header. */
const NOT_BACKED_UP: ReadonlySet<string> = new Set(["meta", "workers"]);
/** A length of 0 is in the place of a document's length. */
const SEPARATOR = Buffer.alloc(4);
const MIN_DOCUMENT_BYTES = 5;
/** MongoDB's limit, with room for what servers add. */
const MAX_DOCUMENT_BYTES = 17 * 1_048_576;
/** Documents are compressed, and inserted, in portions of about so many bytes. */
const PORTION_BYTES = 1_048_576;
const MAX_PORTION = 1_000;
/** MongoDB's codes of a snapshot that is older than its history. */
const SNAPSHOT_CODES: readonly unknown[] = [239, 246];

const HeaderSchema = z.object({
  planwrightBackup: z.number().int(),
  format: z.number().int(),
  version: z.string().max(100),
  database: z.string().max(255),
  takenAt: z.date(),
});
const SectionSchema = z.object({ collection: z.string().min(1).max(255) });
const TrailerSchema = z.object({
  counts: z.record(z.string(), z.number().int().min(0)),
  sha256: z.string().length(64),
});

/** What a backup holds. */
export interface BackupFacts {
  /** The version of Planwright that made it. */
  version: string;
  format: number;
  database: string;
  takenAt: Date;
  counts: Record<string, number>;
}

/**
 * Writes a backup of a database of this format or an earlier one to a stream, and ends it. Changes nothing.
 * @throws {SnapshotLostError} when MongoDB does not keep the snapshot until the end
 * @throws {DatabaseFormatError} for a later format
 */
export async function writeBackup(
  database: Database,
  { to, version }: { to: Writable; version: string },
): Promise<BackupFacts> {
  const { db, collections } = database;
  const { found } = await inspectFormat(database);
  const listed = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  const names = listed
    .map(({ name }) => name)
    .filter((name) => !NOT_BACKED_UP.has(name) && !name.startsWith("system."))
    .toSorted();
  const facts: BackupFacts = {
    version,
    format: found ?? DATABASE_FORMAT,
    database: db.databaseName,
    takenAt: new Date(0),
    counts: {},
  };
  const session = collections.client.startSession({ snapshot: true });
  const hash = createHash("sha256");

  async function* documents(): AsyncGenerator<Uint8Array> {
    // The first read fixes the snapshot: the time after it is later than everything in the backup.
    facts.format = (await findFormat(db, session)) ?? facts.format;
    facts.takenAt = (await db.command({ hello: 1 }))["localTime"];
    const { counts, ...header } = facts;
    yield BSON.serialize({ planwrightBackup: FILE_FORMAT, ...header });
    for (const collection of names) {
      yield BSON.serialize({ collection });
      counts[collection] = 0;
      // Bytes as they are stored: no type of a number changes.
      for await (const bytes of db.collection(collection).find({}, { session, raw: true })) {
        counts[collection] += 1;
        yield bytes as unknown as Uint8Array;
      }
      yield SEPARATOR;
    }
    yield SEPARATOR;
  }

  async function* file(): AsyncGenerator<Buffer> {
    for await (const portion of inPortions(documents())) {
      hash.update(portion);
      yield portion;
    }
    yield Buffer.from(BSON.serialize({ counts: facts.counts, sha256: hash.digest("hex") }));
  }

  try {
    await pipeline(Readable.from(file(), { objectMode: false }), createGzip(), to);
    return facts;
  } catch (error) {
    if (error instanceof MongoServerError && SNAPSHOT_CODES.includes(error.code))
      throw new SnapshotLostError({ takenAt: facts.takenAt }, error);
    throw error;
  } finally {
    await session.endSession();
  }
}

async function* inPortions(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let portion: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    portion.push(piece);
    size += piece.length;
    if (size < PORTION_BYTES) continue;
    yield Buffer.concat(portion);
    portion = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(portion);
}

/** A request that a restore has changed. */
export interface RestoredRequest {
  requestId: string;
  tenant: string;
}

/** What {@link restoreBackup} did. */
export interface RestoreFacts extends BackupFacts {
  /** Requests whose plan had been started, and is paused: they continue after `resume`. Oldest first. */
  paused: RestoredRequest[];
  /** Requests whose plan is still to be made, and then starts only after `execute`. Oldest first. */
  notStarted: RestoredRequest[];
}

/**
 * Restores a backup into an empty database, in which no process of Planwright may run. The format stays that of the
 * backup: the next start converts it. When it fails the database is empty again.
 * @throws {BackupFileError} when the file is not whole, or of a later version: nothing was written
 * @throws {DatabaseNotEmptyError}
 */
export async function restoreBackup(database: Database, { path }: { path: string }): Promise<RestoreFacts> {
  const { db } = database;
  const facts = await readBackup(path, async () => undefined);
  if (facts.format > DATABASE_FORMAT)
    throw new BackupFileError({
      path,
      problem: `it has format ${facts.format} of Planwright ${facts.version}, and this version reads format ${DATABASE_FORMAT}; restore it with the version that wrote it, or a later one`,
    });
  if (!(await isEmpty(db)) || !(await beginRestore(db)))
    throw new DatabaseNotEmptyError({ database: db.databaseName });
  try {
    await readBackup(path, (collection, documents) => insert(db, collection, documents));
    await createIndexes(database.collections);
    const changed = await endRestore(database, facts.format, () => holdWork(database.collections, facts));
    return { ...facts, ...changed };
  } catch (error) {
    // It was empty before.
    await db.dropDatabase();
    throw error;
  }
}

/** True without a document; the collections of a new database may exist. */
async function isEmpty(db: Db): Promise<boolean> {
  const listed = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  const found = await Promise.all(
    listed.map(({ name }) => db.collection(name).findOne({}, { projection: { _id: 1 } })),
  );
  return found.every((document) => document === null);
}

/** Keeps the types of numbers and of bytes. */
const AS_STORED = { promoteValues: false, bsonRegExp: true } as const;

async function insert(db: Db, collection: string, documents: readonly Buffer[]): Promise<void> {
  await db.collection(collection).insertMany(
    documents.map((bytes) => BSON.deserialize(bytes, AS_STORED)),
    { ordered: false, writeConcern: { w: "majority", journal: true } },
  );
}

/**
 * Pauses plans that were started, from the time of the backup on, so that the time since then does not count for
 * their deadlines. Work of the processes of the backup is due at once, and does not count as work that killed them.
 */
async function holdWork(
  { plans, requests }: Collections,
  { takenAt }: BackupFacts,
): Promise<Pick<RestoreFacts, "paused" | "notStarted">> {
  const isNotSurvived = { $lt: [{ $ifNull: ["$survivedEpoch", 0] }, "$epoch"] };
  const released = {
    dueAt: "$$NOW",
    claims: { $cond: [isNotSurvived, { $max: [{ $subtract: ["$claims", 1] }, 0] }, "$claims"] },
    survivedEpoch: "$epoch",
  };
  await Promise.all([
    plans.updateMany({ lease: { $ne: null } }, [{ $set: released }]),
    requests.updateMany({ lease: { $ne: null } }, [{ $set: released }]),
  ]);
  const pause = withControls([{ type: "pause.asked" }], "restore", takenAt);
  await plans.updateMany({ ...IS_TO_BE_PAUSED, finishedAt: null }, [
    { $set: { ...pausedSince(takenAt), ...pause, updatedAt: "$$NOW" } },
  ]);
  const isPlanned = { status: { $in: ["PLANNING", "NEEDS_INPUT"] as const } };
  await requests.updateMany(isPlanned, [
    {
      $set: {
        autoExecute: false,
        restoredAt: "$$NOW",
        replan: {
          $cond: [
            { $eq: ["$planning.work", "replan"] },
            { $mergeObjects: [{ note: null }, "$replan", { execute: false }] },
            "$replan",
          ],
        },
      },
    },
  ]);
  const paused = await plans
    .find({
      status: { $in: STARTED_PLAN_STATUSES },
      finishedAt: null,
      pauseRequestedAt: { $ne: null },
      cancelRequestedAt: null,
    })
    .project<RestoredRequest>({ _id: 0, requestId: 1, tenant: 1 })
    .sort({ requestId: 1 })
    .toArray();
  const notStarted = await requests
    .find(isPlanned)
    .project<RestoredRequest>({ _id: 0, requestId: "$_id", tenant: 1 })
    .sort({ requestId: 1 })
    .toArray();
  return { paused, notStarted };
}

/**
 * Reads a backup, and gives its documents in portions. Keeps one portion in memory.
 * @throws {BackupFileError} as soon as it finds that the file is not a whole backup
 */
async function readBackup(
  path: string,
  give: (collection: string, documents: readonly Buffer[]) => Promise<void>,
): Promise<BackupFacts> {
  const isOf = <Shape>(schema: z.ZodType<Shape>, bytes: Buffer | null): Shape => {
    const parsed = schema.safeParse(bytes && BSON.deserialize(bytes));
    if (!parsed.success) throw new BackupFileError({ path, problem: DAMAGED }, parsed.error);
    return parsed.data;
  };
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  let header: z.infer<typeof HeaderSchema> | undefined;
  let trailer: z.infer<typeof TrailerSchema> | undefined;
  let collection: string | null = null;
  let isComplete = false;
  let portion: Buffer[] = [];
  let size = 0;
  const handOver = async (): Promise<void> => {
    if (collection !== null && portion.length > 0) await give(collection, portion);
    portion = [];
    size = 0;
  };
  try {
    for await (const bytes of piecesOf(path)) {
      if (!isComplete) hash.update(bytes ?? SEPARATOR);
      if (!header) header = readHeader(path, bytes);
      else if (isComplete) {
        if (trailer) throw new BackupFileError({ path, problem: DAMAGED });
        trailer = isOf(TrailerSchema, bytes);
      } else if (collection === null) {
        if (bytes === null) isComplete = true;
        else {
          ({ collection } = isOf(SectionSchema, bytes));
          counts[collection] = 0;
        }
      } else if (bytes === null) {
        await handOver();
        collection = null;
      } else {
        counts[collection] = (counts[collection] ?? 0) + 1;
        portion.push(bytes);
        size += bytes.length;
        if (size >= PORTION_BYTES || portion.length >= MAX_PORTION) await handOver();
      }
    }
  } catch (error) {
    throw toBackupFileError(path, error);
  }
  if (!header || !trailer) throw new BackupFileError({ path, problem: DAMAGED });
  const isWhole =
    trailer.sha256 === hash.digest("hex") && JSON.stringify(trailer.counts) === JSON.stringify(counts);
  if (!isWhole) throw new BackupFileError({ path, problem: DAMAGED });
  const { planwrightBackup: _, ...facts } = header;
  return { ...facts, counts };
}

const DAMAGED = "it was cut or changed: take another copy of it, or another backup";
const FOREIGN = "it is not a backup of Planwright";

function readHeader(path: string, bytes: Buffer | null): z.infer<typeof HeaderSchema> {
  const found: Document | null = bytes && BSON.deserialize(bytes);
  const layout: unknown = found?.["planwrightBackup"];
  if (typeof layout !== "number") throw new BackupFileError({ path, problem: FOREIGN });
  const parsed = HeaderSchema.safeParse(found);
  if (layout !== FILE_FORMAT || !parsed.success)
    throw new BackupFileError({
      path,
      problem: `Planwright ${String(found?.["version"])} wrote it in a layout that this version does not read; restore it with that version, or a later one`,
    });
  return parsed.data;
}

/** Errors of files and of compression, with what a person can do about them. */
function toBackupFileError(path: string, error: unknown): unknown {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "Z_DATA_ERROR" && error instanceof Error && error.message === "incorrect header check")
    return new BackupFileError({ path, problem: FOREIGN }, error);
  if (typeof code === "string" && code.startsWith("Z_"))
    return new BackupFileError({ path, problem: DAMAGED }, error);
  if (error instanceof BSON.BSONError) return new BackupFileError({ path, problem: DAMAGED }, error);
  if (error instanceof Error && "syscall" in error)
    return new BackupFileError({ path, problem: error.message }, error);
  return error;
}

/** The documents of a file; null for a separator. */
async function* piecesOf(path: string): AsyncGenerator<Buffer | null> {
  const source = createReadStream(path);
  const unzipped = createGunzip();
  source.once("error", (error) => unzipped.destroy(error));
  let kept: Buffer[] = [];
  let size = 0;
  let needed = SEPARATOR.length;
  try {
    for await (const chunk of source.pipe(unzipped)) {
      kept.push(chunk);
      size += chunk.length;
      if (size < needed) continue;
      let rest = Buffer.concat(kept);
      for (;;) {
        needed = lengthOf(path, rest);
        if (rest.length < needed) break;
        const isSeparator = rest.readInt32LE() === 0;
        yield isSeparator ? null : rest.subarray(0, needed);
        rest = rest.subarray(needed);
      }
      kept = [rest];
      size = rest.length;
    }
  } finally {
    source.destroy();
  }
  if (size > 0) throw new BackupFileError({ path, problem: DAMAGED });
}

/** Bytes of the next piece; as many as are needed to say that, when there are fewer. */
function lengthOf(path: string, bytes: Buffer): number {
  if (bytes.length < SEPARATOR.length) return SEPARATOR.length;
  const length = bytes.readInt32LE();
  if (length === 0) return SEPARATOR.length;
  if (length < MIN_DOCUMENT_BYTES || length > MAX_DOCUMENT_BYTES)
    throw new BackupFileError({ path, problem: DAMAGED });
  return length;
}
