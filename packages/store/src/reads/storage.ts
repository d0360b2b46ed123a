/**
 * What a database holds, and what retention frees of it.
 *
 * 1. Sizes of collections come from MongoDB's own counters, so they cost nothing and are always there.
 * 2. Tenants and ages need a scan. It is bounded twice: of a large collection only a sample is read, and all scans
 *    together have a time limit. What was estimated or not measured is named.
 * 3. The age of a record is the time since the last change of its request, because retention goes by that.
 */
import { ENDED_REQUEST_STATUSES } from "@planwright/plan";
import type { Collection, Db, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { isTimeLimit } from "../database/transient-errors.ts";
import { IS_REMOVABLE, type RetentionDays } from "../requests/remove-ended.ts";

/** Kinds of records, for people. `heads`: the current state of requests and plans; `other`: not of this version. */
export const STORAGE_GROUPS = [
  "journal",
  "heads",
  "outputs",
  "model calls",
  "tools",
  "access",
  "housekeeping",
  "other",
] as const;

type StorageGroup = (typeof STORAGE_GROUPS)[number];

const GROUP_OF: Readonly<Record<keyof Omit<Collections, "client"> | "meta", StorageGroup>> = {
  journal: "journal",
  requests: "heads",
  plans: "heads",
  outputs: "outputs",
  modelCalls: "model calls",
  tools: "tools",
  toolServers: "tools",
  signIns: "access",
  observedOutputs: "tools",
  toolCallStats: "tools",
  apiKeys: "access",
  tenants: "access",
  workers: "housekeeping",
  removals: "housekeeping",
  meta: "housekeeping",
};

/** Time since the last change of the request: at most a day, 7 days, 30 days, or more. */
export const STORAGE_AGES = ["day", "week", "month", "older"] as const;

/**
 * When retention removes the request: with its next round, within a day, 7 days, 30 days, or later; `unfinished`:
 * not before it has ended; `never`: requests are kept forever.
 */
export const STORAGE_ENDS = ["now", "day", "week", "month", "later", "unfinished", "never"] as const;

/** A collection by MongoDB's own counters. */
interface StoredCollection {
  name: string;
  group: StorageGroup;
  documents: number;
  /** Size of the documents without compression, in bytes. */
  dataBytes: number;
  /** Size of the file with the documents, in bytes. */
  fileBytes: number;
  /** Part of the file that removed documents left free, for new ones, in bytes. */
  freeBytes: number;
  indexBytes: number;
  /**
   * How `StorageFacts.shares` has it: `estimated` from a sample, or `unmeasured`, because the time was over; `none`:
   * its documents belong to no request.
   */
  shares: "exact" | "estimated" | "unmeasured" | "none";
}

/** The documents of one collection and tenant whose requests have one age and one end. */
export interface StorageShare {
  collection: (typeof SHARED)[number];
  tenant: string;
  age: (typeof STORAGE_AGES)[number];
  freed: (typeof STORAGE_ENDS)[number];
  documents: number;
  /** Size of the documents without compression, in bytes. */
  dataBytes: number;
}

/** What {@link measureStorage} found. */
export interface StorageFacts {
  database: string;
  measuredAt: Date;
  retentionDays: RetentionDays;
  collections: StoredCollection[];
  /** Of the collections with records of requests. */
  shares: StorageShare[];
}

/** Settings of {@link measureStorage}. */
export interface StorageOptions {
  /** How long requests that ended are kept. */
  retentionDays: RetentionDays;
  /** Longest that all scans may take together, in milliseconds. Default 60,000. */
  scanMs?: number | undefined;
  /** Documents that are read of a large collection, one of 20 times as many documents. Default 50,000. */
  sampleSize?: number | undefined;
}

/** Collections with records of requests, the smallest scans first. */
const SHARED = ["requests", "plans", "modelCalls", "outputs", "journal"] as const;

/** MongoDB reads a sample without a scan when it is at most one document of so many. */
const SAMPLED_FROM = 20;
const DAY_MS = 86_400_000;

/** Reads the sizes of all collections, and whose records they hold. Changes nothing. */
export async function measureStorage(
  db: Db,
  { retentionDays, scanMs = 60_000, sampleSize = 50_000 }: StorageOptions,
): Promise<StorageFacts> {
  const { localTime } = await db.command({ hello: 1 });
  const endsAt = performance.now() + scanMs;
  const listed = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  const collections = await Promise.all(listed.map(({ name }) => readCounters(db.collection(name))));
  const shares: StorageShare[] = [];
  // One after another: it is no hurry, and workers use the same database.
  for (const name of SHARED) {
    const collection = collections.find((stored) => stored.name === name);
    if (!collection) continue;
    const { documents } = collection;
    const isSampled = documents >= sampleSize * SAMPLED_FROM;
    const maxTimeMS = Math.floor(endsAt - performance.now());
    const found =
      maxTimeMS < 1
        ? null
        : await readShares(db, name, {
            retentionDays,
            sampleSize: isSampled ? sampleSize : null,
            maxTimeMS,
          });
    collection.shares = found === null ? "unmeasured" : isSampled ? "estimated" : "exact";
    const scale = isSampled ? documents / sampleSize : 1;
    for (const { _id, documents: count, bytes } of found ?? [])
      shares.push({
        collection: name,
        ..._id,
        documents: Math.round(count * scale),
        dataBytes: Math.round(bytes * scale),
      });
  }
  return {
    database: db.databaseName,
    measuredAt: localTime,
    retentionDays,
    collections: collections.toSorted((one, other) => other.dataBytes - one.dataBytes),
    shares,
  };
}

async function readCounters(collection: Collection): Promise<StoredCollection> {
  const name = collection.collectionName;
  const [stats] = await collection
    .aggregate<{ storageStats: Record<string, number> }>([{ $collStats: { storageStats: {} } }])
    .toArray();
  const counter = (field: string): number => stats?.storageStats[field] ?? 0;
  return {
    name,
    group: Object.entries(GROUP_OF).find(([known]) => known === name)?.[1] ?? "other",
    documents: counter("count"),
    dataBytes: counter("size"),
    fileBytes: counter("storageSize"),
    freeBytes: counter("freeStorageSize"),
    indexBytes: counter("totalIndexSize"),
    shares: "none",
  };
}

interface FoundShare {
  _id: Pick<StorageShare, "tenant" | "age" | "freed">;
  documents: number;
  bytes: number;
}

/** Null when the time was over. */
async function readShares(
  db: Db,
  name: (typeof SHARED)[number],
  {
    retentionDays,
    sampleSize,
    maxTimeMS,
  }: { retentionDays: RetentionDays; sampleSize: number | null; maxTimeMS: number },
): Promise<FoundShare[] | null> {
  const stages: Document[] = [
    ...(sampleSize === null ? [] : [{ $sample: { size: sampleSize } }]),
    ...RECORDS_OF[name],
    {
      $group: {
        _id: { tenant: "$tenant", age: AGE, freed: endOf(retentionDays) },
        documents: { $sum: "$documents" },
        bytes: { $sum: "$bytes" },
      },
    },
    { $sort: { _id: 1 } },
  ];
  try {
    return await db
      .collection(name)
      .aggregate<FoundShare>(stages, { maxTimeMS, allowDiskUse: true })
      .toArray();
  } catch (error) {
    if (isTimeLimit(error)) return null;
    throw error;
  }
}

/** Stages that give the records of one request or plan together, with the field `request`. */
function withRequests(
  owner: "$requestId" | "$planId",
  changedAt: "$createdAt" | Date = new Date(0),
): Document[] {
  const isOfPlan = owner === "$planId";
  return [
    {
      $group: {
        _id: owner,
        tenant: { $first: "$tenant" },
        documents: { $sum: 1 },
        bytes: { $sum: { $bsonSize: "$$ROOT" } },
        changedAt: { $max: changedAt },
      },
    },
    // Without a pipeline: MongoDB joins the whole document in less than half the time.
    ...(isOfPlan ? [joined("plans", "_id")] : []),
    joined("requests", isOfPlan ? "plans.requestId" : "_id"),
    // Where the request is gone a crash has cut its removal, which the next round continues.
    {
      $set: {
        request: {
          $ifNull: [{ $first: "$requests" }, { status: ENDED_REQUEST_STATUSES[0], updatedAt: "$changedAt" }],
        },
      },
    },
  ];
}

function joined(from: "plans" | "requests", localField: string): Document {
  return { $lookup: { from, localField, foreignField: "_id", as: from } };
}

/** Stages that give records with `tenant`, `documents`, `bytes` and the `request` that they belong to. */
const RECORDS_OF: Readonly<Record<(typeof SHARED)[number], Document[]>> = {
  requests: [
    {
      $project: {
        tenant: 1,
        documents: { $literal: 1 },
        bytes: { $bsonSize: "$$ROOT" },
        request: { status: "$status", dueAt: "$dueAt", lease: "$lease", updatedAt: "$updatedAt" },
      },
    },
  ],
  plans: withRequests("$requestId"),
  // Those for questions about contracts have no request: they are removed by their own time.
  modelCalls: withRequests("$requestId", "$createdAt"),
  outputs: withRequests("$planId"),
  journal: withRequests("$requestId"),
};

const SINCE_CHANGE = { $subtract: ["$$NOW", "$request.updatedAt"] };

const PERIODS: ["day" | "week" | "month", number][] = [
  ["day", DAY_MS],
  ["week", 7 * DAY_MS],
  ["month", 30 * DAY_MS],
];

/** Expression: the class of the time since the last change of the request. */
const AGE = classOf<StorageShare["age"]>(SINCE_CHANGE, PERIODS, "older");

/** Expression: when the request is removed. */
function endOf(retentionDays: RetentionDays): Document {
  if (retentionDays === "never") return { $cond: [IS_REMOVABLE, "never", "unfinished"] };
  const left = { $subtract: [retentionDays * DAY_MS, SINCE_CHANGE] };
  const end = classOf<StorageShare["freed"]>(left, [["now", 0], ...PERIODS], "later");
  return { $cond: [IS_REMOVABLE, end, "unfinished"] };
}

/** Expression: the first class that is not below the value, by the highest value of each; otherwise the last. */
function classOf<Name extends string>(
  value: Document,
  classes: [name: Name, max: number][],
  last: Name,
): Document | string {
  return classes.reduceRight<Document | string>(
    (rest, [name, max]) => ({ $cond: [{ $lte: [value, max] }, name, rest] }),
    last,
  );
}
