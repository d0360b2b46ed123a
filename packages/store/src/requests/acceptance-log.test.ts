/** Inserts of documents that are there already: the answer to an earlier insert may be lost. */
import { createHash, randomUUID } from "node:crypto";
import { createPlanId, createRequestId, parsePlan } from "@planwright/plan";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStore, type Store } from "../create-store.ts";
import { type Collections, openCollections } from "../database/collections.ts";
import { newPlan, newRequest } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { type AcceptedEntry, createMongoAcceptanceLog, createRemoveHalfAccepted } from "./acceptance.ts";

const { mongodbUrl: url } = testServers();
let store: Store;
let client: MongoClient;
let collections: Collections;
beforeAll(async () => {
  // Makes the indexes.
  store = await createStore({ url });
  client = await MongoClient.connect(url, {
    writeConcern: { w: "majority", journal: true },
  });
  collections = openCollections(client, client.db());
});
afterAll(async () => {
  await client.close();
  await store.close();
});

interface Submission extends AcceptedEntry {
  plan: PlanDocument;
}

const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes);

function submission(key?: string, atMs = Date.now()): Submission {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const now = new Date(atMs);
  const ids = { requestId: createRequestId(atMs, random), planId: createPlanId(atMs, random) };
  const request = newRequest({ ...ids, tenant: "log", query: null, source: "plan", autoExecute: true, now });
  const plan = newPlan({
    request,
    plan: parsed.plan,
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "QUEUED",
    now,
  });
  return {
    request: { ...request, ...(key !== undefined && { idempotency: { key, payloadHash: "p" } }) },
    plan,
  };
}

const stored = async ({ request, plan }: Submission) => [
  await collections.requests.countDocuments({ _id: request._id }),
  await collections.plans.countDocuments({ _id: plan._id }),
];

test("stored documents are kept as they are, and missing plans are stored", async () => {
  const log = createMongoAcceptanceLog(collections);
  const [complete, half, fresh] = [submission(), submission(), submission()];
  await log.insert([complete]);
  await collections.requests.insertOne(half.request);
  await collections.requests.updateOne({ _id: complete.request._id }, { $set: { status: "COMPLETED" } });
  await log.insert([complete, half, fresh]);
  expect(await Promise.all([complete, half, fresh].map(stored))).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
  expect((await collections.requests.findOne({ _id: complete.request._id }))?.status).toBe("COMPLETED");
});

test("a request alone is stored once", async () => {
  const log = createMongoAcceptanceLog(collections);
  const request = { ...submission().request, source: "query" as const };
  await log.insert([{ request }]);
  await log.insert([{ request }]);
  expect(await collections.requests.countDocuments({ _id: request._id })).toBe(1);
});

test("under a key the first submission is stored and may be repeated; of another one nothing is stored", async () => {
  const log = createMongoAcceptanceLog(collections);
  const [first, second] = [submission("k"), submission("k")];
  expect(await log.insertKeyed(first)).toBe(true);
  await collections.plans.deleteOne({ _id: first.plan._id });
  expect(await log.insertKeyed(first)).toBe(true);
  expect(await log.insertKeyed(second)).toBe(false);
  expect(await Promise.all([first, second].map(stored))).toEqual([
    [1, 1],
    [0, 0],
  ]);
});

test("a document that cannot be stored is an error, not a duplicate", async () => {
  const log = createMongoAcceptanceLog(collections);
  const { request, plan } = submission();
  const tooLarge = { ...request, query: "x".repeat(17_000_000) };
  await expect(log.insert([{ request: tooLarge, plan }])).rejects.toThrow();
  expect(await stored({ request, plan })).toEqual([0, 0]);
});

test("only a request that has waited for its plan for a minute is removed", async () => {
  const nowMs = Date.now();
  const [half, young, complete] = [
    submission(undefined, nowMs - 90_000),
    submission(undefined, nowMs - 30_000),
    submission(undefined, nowMs - 90_000),
  ];
  const sentence = { ...submission(undefined, nowMs - 90_000).request, source: "query" as const };
  await collections.requests.insertMany([half.request, young.request, sentence]);
  await createMongoAcceptanceLog(collections).insert([complete]);
  const remove = createRemoveHalfAccepted(collections);
  expect(await remove(nowMs)).toBe(1);
  expect(await Promise.all([half, young, complete].map(stored))).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
  ]);
  expect(await collections.requests.countDocuments({ _id: sentence._id })).toBe(1);
  expect(await remove(nowMs)).toBe(0);
  expect(await remove(nowMs + 60_000)).toBe(1);
});

describe("a client that repeats its key while its request is being removed", () => {
  const key = () => randomUUID();
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const minuteAgo = () => submission(undefined, Date.now() - 90_000);
  async function storeWithoutPlan(name: string) {
    const { request, plan } = minuteAgo();
    await collections.requests.insertOne({ ...request, idempotency: { key: hash(name), payloadHash: "p" } });
    const repeat = () =>
      store.submitPlan({
        tenant: "log",
        query: null,
        raw: "{}",
        diagnostics: [],
        autoExecute: true,
        plan: plan.plan,
        idempotency: { key: name, payloadHash: "p" },
      });
    return { request, repeat };
  }
  /**
   * The collections, with a call of `happen` right before a request is written, or right before requests are
   * removed.
   */
  const withBefore = (method: "updateOne" | "deleteMany", happen: () => Promise<unknown>) => ({
    plans: collections.plans,
    requests: new Proxy(collections.requests, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        const call = (...given: unknown[]): unknown => Reflect.apply(member, target, given);
        return name === method ? (...given: unknown[]) => happen().then(() => call(...given)) : call;
      },
    }),
  });

  test.each([
    ["before its key is removed keeps the request, with its plan", "updateOne", true],
    ["after that is accepted as a new request, with its plan", "deleteMany", false],
  ] as const)("%s", async (_, method, isKept) => {
    const { request, repeat } = await storeWithoutPlan(key());
    let accepted: Awaited<ReturnType<typeof repeat>> | undefined;
    const around = withBefore(method, async () => {
      accepted ??= await repeat();
    });
    await createRemoveHalfAccepted(around)(Date.now());
    if (!accepted) throw new TypeError("nothing was repeated");
    expect(accepted.request._id === request._id).toBe(isKept);
    expect(await stored(accepted)).toEqual([1, 1]);
    expect(await collections.requests.countDocuments({ _id: request._id })).toBe(isKept ? 1 : 0);
  });
});
