import { ENDED_REQUEST_STATUSES, UNFINISHED_PLAN_STATUSES } from "@planwright/plan";
import type { Db, IndexDescription, MongoClient } from "mongodb";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { OutputDocument, PlanDocument } from "../records/plan-document.ts";
import type {
  JournalDocument,
  RemovalDocument,
  RequestDocument,
  WorkerDocument,
} from "../records/request-document.ts";
import type { ApiKeyDocument, TenantDocument } from "../records/tenant-document.ts";
import type {
  ObservedOutputDocument,
  SignInDocument,
  ToolCallStatsDocument,
  ToolDocument,
  ToolServerDocument,
} from "../records/tool-documents.ts";

/** The collections, typed, with the client that owns them. */
export type Collections = ReturnType<typeof openCollections>;

/** The typed collections of a database; creates nothing. */
export function openCollections(client: MongoClient, db: Db) {
  return {
    client,
    requests: db.collection<RequestDocument>("requests"),
    plans: db.collection<PlanDocument>("plans"),
    journal: db.collection<JournalDocument>("journal"),
    outputs: db.collection<OutputDocument>("outputs"),
    modelCalls: db.collection<ModelCallDocument>("modelCalls"),
    tools: db.collection<ToolDocument>("tools"),
    toolServers: db.collection<ToolServerDocument>("toolServers"),
    signIns: db.collection<SignInDocument>("signIns"),
    observedOutputs: db.collection<ObservedOutputDocument>("observedOutputs"),
    toolCallStats: db.collection<ToolCallStatsDocument>("toolCallStats"),
    apiKeys: db.collection<ApiKeyDocument>("apiKeys"),
    workers: db.collection<WorkerDocument>("workers"),
    removals: db.collection<RemovalDocument>("removals"),
    tenants: db.collection<TenantDocument>("tenants"),
  };
}

/** How long observations of a tool are kept after its last call, or after it has changed. */
const OBSERVED_LIFE_SECONDS = 90 * 86_400;

/** How long the counts of an hour are kept: readers look back 24 hours. */
const CALL_STATS_LIFE_SECONDS = 2 * 86_400;

/** How long the document of a worker is kept after its last heartbeat. */
const WORKER_LIFE_SECONDS = 3_600;

/**
 * Name of the index of ended requests by tenant and time. Counts name it as a hint: while it is small MongoDB
 * may prefer another index and read documents.
 */
export const TENANT_ENDED_INDEX = `tenant_ended_${ENDED_REQUEST_STATUSES.join("_")}`;

/** Name of the index of the due work of each tenant. */
export const LINES_INDEX = "lines_of_tenants";

/** Name of the index of the model calls of each tenant by time. */
export const TENANT_CALLS_INDEX = "calls_of_tenants";

/** Name of the index of waiting plans by the reason. */
export const WAITING_INDEX = "waiting";

/** Name of the index of plans that need a person, by the time since when they do. */
export const NEEDS_INDEX = "needs";

/** Name of the index of requests with open questions. */
export const ASKING_INDEX = "asking";

/** Of work that workers own: see `Leased`. */
const OF_LEASES: IndexDescription[] = [
  { key: { dueAt: 1, tenant: 1 }, partialFilterExpression: { dueAt: { $type: "date" } } },
  // For the sweepers while much work waits, and for counts: the line of each tenant.
  {
    key: { tenant: 1, priority: 1, dueAt: 1, waitReason: 1 },
    partialFilterExpression: { dueAt: { $type: "date" } },
    name: LINES_INDEX,
  },
  // Only documents with a lease: for the work of dead workers, and for counts of held work.
  {
    key: { "lease.owner": 1, dueAt: 1, tenant: 1 },
    partialFilterExpression: { "lease.owner": { $type: "string" } },
  },
];

/** Indexes for clients begin with the tenant. Those of due times, for sweepers, have only unfinished work. */
const INDEXES: { [name in keyof Omit<Collections, "client">]?: IndexDescription[] } = {
  requests: [
    // A key belongs to one request: of two submissions under one key this index refuses the second.
    {
      key: { tenant: 1, "idempotency.key": 1 },
      unique: true,
      partialFilterExpression: { "idempotency.key": { $exists: true } },
    },
    { key: { tenant: 1, createdAt: -1, _id: -1 } },
    { key: { tenant: 1, status: 1, createdAt: -1, _id: -1 } },
    // Only requests with tags: most have none.
    {
      key: { tenant: 1, tags: 1, createdAt: -1, _id: -1 },
      partialFilterExpression: { tags: { $exists: true } },
    },
    // Only requests with an error.
    {
      key: { tenant: 1, "error.code": 1, _id: -1 },
      partialFilterExpression: { "error.code": { $exists: true } },
    },
    ...OF_LEASES,
    { key: { updatedAt: 1 }, partialFilterExpression: { status: "EXECUTING" }, name: "executing" },
    // For figures of the system: also with the status, so that counts read no document.
    {
      key: { status: 1, updatedAt: 1 },
      partialFilterExpression: { status: "NEEDS_INPUT" },
      name: ASKING_INDEX,
    },
    {
      key: { updatedAt: 1 },
      partialFilterExpression: { status: { $in: ENDED_REQUEST_STATUSES } },
      // Named by its statuses, like the index of unfinished plans.
      name: `ended_${ENDED_REQUEST_STATUSES.join("_")}`,
    },
    // For counts of requests that ended recently.
    {
      key: { tenant: 1, status: 1, updatedAt: 1 },
      partialFilterExpression: { status: { $in: ENDED_REQUEST_STATUSES } },
      name: TENANT_ENDED_INDEX,
    },
  ],
  plans: [
    { key: { tenant: 1, requestId: 1, version: -1 }, unique: true },
    { key: { tenant: 1, "plan.steps.tool": 1, requestId: -1 } },
    {
      key: { tenant: 1, "plan.steps.forEach.do.tool": 1, requestId: -1 },
      partialFilterExpression: { "plan.steps.forEach.do.tool": { $exists: true } },
    },
    {
      key: { tenant: 1, "error.code": 1, requestId: -1 },
      partialFilterExpression: { "error.code": { $exists: true } },
    },
    ...OF_LEASES,
    // Only unfinished plans, for counts.
    {
      key: { status: 1 },
      partialFilterExpression: { status: { $in: UNFINISHED_PLAN_STATUSES } },
      // Named by its statuses: MongoDB refuses another filter for an index of the same name.
      name: `unfinished_${UNFINISHED_PLAN_STATUSES.join("_")}`,
    },
    // For figures of the system.
    {
      key: { status: 1, waitReason: 1 },
      partialFilterExpression: { status: "WAITING" },
      name: WAITING_INDEX,
    },
    {
      key: { needs: 1, needsSince: 1 },
      partialFilterExpression: { needs: { $exists: true } },
      name: NEEDS_INDEX,
    },
    // Only plans that need a person: they are few.
    {
      key: { tenant: 1, needs: 1, requestId: -1 },
      partialFilterExpression: { needs: { $exists: true } },
    },
  ],
  journal: [
    // Only entries with an idempotency key: they are few.
    {
      key: { tenant: 1, "idempotency.key": 1 },
      partialFilterExpression: { "idempotency.key": { $exists: true } },
    },
  ],
  outputs: [{ key: { tenant: 1, planId: 1 } }],
  modelCalls: [
    { key: { tenant: 1, requestId: 1, createdAt: 1, _id: 1 } },
    // For the limit of calls of a tenant and for sums of costs, without those of the offline drafter.
    {
      key: { tenant: 1, createdAt: -1, attempt: 1 },
      partialFilterExpression: { attempt: { $gte: 1 } },
      name: TENANT_CALLS_INDEX,
    },
  ],
  tools: [{ key: { server: 1 } }],
  observedOutputs: [
    { key: { tenant: 1, seenAt: -1 } },
    { key: { seenAt: 1 }, expireAfterSeconds: OBSERVED_LIFE_SECONDS },
  ],
  toolCallStats: [
    { key: { tenant: 1, hour: 1 } },
    { key: { hour: 1 }, expireAfterSeconds: CALL_STATS_LIFE_SECONDS },
  ],
  apiKeys: [{ key: { hash: 1 }, unique: true }, { key: { tenant: 1, createdAt: -1 } }],
  workers: [{ key: { seenAt: 1 }, expireAfterSeconds: WORKER_LIFE_SECONDS }],
};

/** Makes the missing indexes. Safe to run in many processes at once. */
export async function createIndexes(collections: Collections): Promise<void> {
  const named = Object.entries(INDEXES) as [keyof typeof INDEXES, IndexDescription[]][];
  await Promise.all(named.map(([name, indexes]) => collections[name].createIndexes(indexes)));
}

/** Number of the format that this program writes. */
export const DATABASE_FORMAT = 7;

/** Expression: a program of this format may do the work. */
export const CAN_DO_WORK = { $lte: [{ $ifNull: ["$minFormat", 0] }, DATABASE_FORMAT] };
