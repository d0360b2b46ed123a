import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { graphql } from "graphql";
import { type Db, MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReads } from "../src/operation/reads.ts";
import { createSchema } from "../src/resolvers/executable-schema.ts";
import { answerBytes } from "./answer-bytes.ts";
import { BLOG_TOOLS } from "./running-api.ts";
import { failAs, planAs } from "./workers.ts";

const TENANT = "default";
const REQUESTS = 20;
const EVERYTHING = `query ($first: Int!) { requests(first: $first) { nodes {
  plan { request { requestId } counts { total } steps { id output attempts { attempt } } outputs executionResults }
  plans { version request { query } steps { id status output } }
  modelCalls { purpose answer } } } }`;

let store: Store;
let client: MongoClient;
let database: Db;

beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  await store.publishTools(
    "blog",
    BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name })),
  );
  for (let made = 0; made < REQUESTS; made += 1) await requestOfTwoVersions();
  client = await MongoClient.connect(url);
  database = client.db();
});
afterAll(async () => {
  await client.close();
  await store.close();
});

/** A request planned by a model, whose plan failed and was run again. */
async function requestOfTwoVersions(): Promise<void> {
  const request = await store.createRequest({ tenant: TENANT, query: "Create both", autoExecute: true });
  await planAs(store, request._id);
  await failAs(store, request.planId);
  const again = await store.rerunPlan(TENANT, request._id, { from: null, autoExecute: true });
  expect(again.type).toBe("rerun");
}

interface Profiled {
  op: string;
  ns: string;
  planSummary: string;
  /** True if MongoDB sorted in memory. */
  hasSortStage?: boolean;
  docsExamined: number;
  nreturned: number;
}

/** Heartbeats are read once a second for all queries. */
const liveWorkers = async () => ({ planner: 1, executor: 1, owners: new Set() });

/** MongoDB's operations for a query, from its profiler. */
async function profiled(source: string, variableValues: Record<string, unknown>) {
  await database.command({ profile: 2 });
  const bytes = answerBytes();
  const answer = await graphql({
    schema: createSchema(),
    source,
    variableValues,
    contextValue: {
      store,
      tenant: TENANT,
      bytes,
      reads: createReads(store, TENANT, bytes),
      nowMs: 0,
      liveWorkers,
    },
  });
  await database.command({ profile: 0 });
  expect(answer.errors).toBeUndefined();
  const profile = database.collection<Profiled>("system.profile");
  const reads = await profile
    .find({ op: { $in: ["query", "getmore", "command"] }, "command.profile": { $exists: false } })
    .sort({ ts: 1 })
    .toArray();
  await profile.drop();
  return { data: answer.data, reads };
}

async function readsOf(first: number): Promise<Profiled[]> {
  const { data, reads } = await profiled(EVERYTHING, { first });
  expect(data?.["requests"]).toMatchObject({
    nodes: Array.from({ length: first }, () => ({
      plan: { steps: [{ id: "createAuthor" }, { id: "createBlog" }] },
      plans: [{ version: 2 }, { version: 1, steps: [{ status: "FAILED" }, { status: "SKIPPED" }] }],
      modelCalls: [{ purpose: "draft" }],
    })),
  });
  return reads;
}

/**
 * Heads of requests, current plans, versions, model calls and steps once; steps and plans once in each
 * direction; counts of steps; and each large part separately: plans and their outputs, attempts,
 * outputs and texts of models.
 */
const MOST_READS = 14;

test.each([1, REQUESTS])(
  "a query over %i requests with all their fields needs at most 14 reads, all by index",
  async (first) => {
    const reads = await readsOf(first);
    expect(reads.length).toBeLessThanOrEqual(MOST_READS);
    for (const { planSummary, docsExamined, nreturned, hasSortStage } of reads) {
      expect(hasSortStage ?? false).toBe(false);
      expect(planSummary).toMatch(/IXSCAN|IDHACK|EXPRESS/);
      expect(planSummary).not.toMatch(/COLLSCAN/);
      // Two steps of a plan may be counted as one status.
      expect(docsExamined).toBeLessThanOrEqual(2 * nreturned);
    }
  },
);

test("a poll of the status of a request needs one read, by an index that begins with its id or its tenant", async () => {
  const { items } = await store.listRequests(TENANT, { first: 1 });
  const { data, reads } = await profiled("query ($id: ID!) { request(requestId: $id) { status } }", {
    id: items[0]?._id,
  });
  expect(data).toEqual({ request: { status: "EXECUTING" } });
  expect(reads).toHaveLength(1);
  const [{ planSummary, docsExamined, hasSortStage } = expect.fail("no read")] = reads;
  expect(planSummary).toMatch(/^(IDHACK|(EXPRESS_)?IXSCAN \{ (_id|tenant): 1)/);
  expect(docsExamined).toBe(1);
  expect(hasSortStage ?? false).toBe(false);
});

const PAGES = `query ($first: Int!) { requests(first: $first) { nodes {
  plan { stepsConnection(first: 1) { nodes { id status waitReason output } totalCount pageInfo { endCursor } } }
  plansConnection(first: 1) { nodes { version } }
  modelCallsConnection(first: 1) { nodes { purpose } } } } }`;
/**
 * Requests, plans and their documents; pages of steps, of versions and of calls; outputs; counts of steps,
 * and the states
 * of other steps.
 */
const MOST_READS_OF_PAGES = 9;

test.each([1, REQUESTS])(
  "pages of steps, versions and model calls of %i requests need one read each, by index",
  async (first) => {
    const { data, reads } = await profiled(PAGES, { first });
    const connection = { nodes: [{ id: "createAuthor" }], totalCount: 2 };
    expect(data?.["requests"]).toMatchObject({
      nodes: Array.from({ length: first }, () => ({
        plan: { stepsConnection: connection },
        plansConnection: { nodes: [{ version: 2 }] },
        modelCallsConnection: { nodes: [{ purpose: "draft" }] },
      })),
    });
    expect(reads.length).toBeLessThanOrEqual(MOST_READS_OF_PAGES);
    for (const { planSummary, docsExamined, nreturned, hasSortStage } of reads) {
      expect(hasSortStage ?? false).toBe(false);
      expect(planSummary).toMatch(/IXSCAN|IDHACK|EXPRESS/);
      expect(planSummary).not.toMatch(/COLLSCAN/);
      expect(docsExamined).toBeLessThanOrEqual(nreturned);
    }
  },
);
