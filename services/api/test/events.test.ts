/** The journal of a request as clients read it. */
import { JournalEventSchema } from "@planwright/engine";
import { buildSchema, isObjectType } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SDL } from "../src/index.ts";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi, submitPlan } from "./running-api.ts";
import { claimOnceDue, executeAs, failAs, writeCalled } from "./workers.ts";

const EVENTS = `query ($id: ID!, $first: Int! = 50, $after: String) { events(requestId: $id, first: $first, after: $after) {
  edges { cursor node { id } }
  nodes { id seq position at by { kind id } planId type stepId key attempt status error { code message retryable remedy data } reason facts }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const submit = (plan?: object) => submitPlan(running, plan);

async function pageOf(id: string, page: object = {}) {
  const { body } = await running.graphql(EVENTS, { id, ...page });
  expect(body.errors).toBeUndefined();
  return body.data.events;
}

/** All events of a request, read in pages of this size. */
async function allOf(id: string, first: number): Promise<{ id: string; type: string }[]> {
  const events = [];
  for (let after: string | null = null; ; ) {
    const page = await pageOf(id, { first, after });
    expect(page.nodes.length).toBeLessThanOrEqual(first);
    events.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return events;
    after = page.pageInfo.endCursor;
  }
}

test("events show in order the claim of the plan, each call with its end, each change of a step, and the end", async () => {
  const { requestId, planId } = await submit();
  await executeAs(running.store, planId as never);
  const { nodes, pageInfo } = await pageOf(requestId);
  expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
  const shown = nodes.map(({ type, key, attempt, status }: Record<string, unknown>) =>
    [type, key, attempt, status].filter((part) => part !== null).join(" "),
  );
  expect(shown).toEqual([
    "lease.taken",
    "attempt.started createAuthor 1",
    "attempt.ended createAuthor",
    "step.changed createAuthor COMPLETED",
    "attempt.started createBlog 1",
    "attempt.ended createBlog",
    "step.changed createBlog COMPLETED",
    "plan.ended COMPLETED",
  ]);
  const [taken, started, ended, changed] = nodes;
  expect(taken).toMatchObject({
    id: `${requestId}/1/0`,
    seq: 1,
    position: 0,
    at: expect.stringMatching(/Z$/),
    by: { kind: "executor", id: "test executor" },
    planId,
    stepId: null,
    facts: { worker: "test executor", epoch: 1, from: null },
  });
  expect(started.facts).toEqual({
    attemptId: expect.any(String),
    units: ["createAuthor"],
    unitsCount: 1,
    tool: "createAuthor",
    effectClass: "U",
    mayAct: true,
    argsHash: "test",
    argumentsBytes: JSON.stringify({ name: "Alice" }).length,
    startedAt: expect.stringMatching(/Z$/),
  });
  expect(ended.facts).toMatchObject({ outcome: "completed", durationMs: 5, unitsCount: 1 });
  expect(changed.facts).toEqual({ outputBytes: JSON.stringify({ _id: "a1", name: "Alice" }).length });
});

test("an error has its code, its message and its remedy", async () => {
  const { requestId, planId } = await submit();
  await failAs(running.store, planId as never);
  const { nodes } = await pageOf(requestId);
  const failed = nodes.filter(({ error }: { error: object | null }) => error !== null);
  expect(
    failed.map(({ type, error }: { type: string; error: { code: string } }) => [type, error.code]),
  ).toEqual([
    ["attempt.ended", "TOOL_FAILED"],
    ["step.changed", "TOOL_FAILED"],
    ["step.changed", "DEPENDENCY_FAILED"],
    ["plan.ended", "TOOL_FAILED"],
  ]);
  expect(failed[0].error).toMatchObject({
    message: "email alice@test.com is taken",
    retryable: false,
    remedy: expect.any(String),
    data: null,
  });
});

const SECRET = "must not appear here";

test("events show only the sizes of outputs and arguments, for every kind of entry", async () => {
  const { requestId, planId } = await submit();
  const claim = await claimOnceDue(running.store, planId as never);
  const large = { _id: SECRET.repeat(4_000) };
  const call = { arguments: { name: SECRET }, effectClass: "U" as const, mayAct: true, timeoutMs: 1_000 };
  const key = { key: "createAuthor", stepId: "createAuthor" };
  const intent = { ...call, ...key, attempt: 1, tool: "createAuthor" };
  await running.store.writeIntents(claim, [{ call: intent, attemptId: "a1", argsHash: "test" }]);
  const done = { ...key, status: "COMPLETED" as const, attempts: 1, output: large };
  const end = { ...key, attemptId: "a1", endedAtMs: running.store.now(), durationMs: 5 };
  const error = { code: "TOOL_FAILED", message: "no", retryable: false, data: { said: SECRET } };
  await running.store.writeRecords(claim, [done], [{ ...end, outcome: "failed", error }]);
  const waits = {
    key: "createBlog",
    stepId: "createBlog",
    status: "WAITING_APPROVAL" as const,
    attempts: 0,
    arguments: { title: SECRET },
    approvalHash: "5".repeat(64),
  };
  await running.store.writeRecords(claim, [waits], []);
  const stopped = {
    key: "createBlog",
    stepId: "createBlog",
    status: "CANCELLED" as const,
    attempts: 0,
    error,
  };
  const finish = { type: "finish" as const, status: "PARTIAL" as const, outputs: { createAuthor: SECRET } };
  await running.store.finishPlan(claim, finish, { records: [stopped], ends: [] });
  const { nodes } = await pageOf(requestId);
  const facts = nodes.map(({ facts: shown }: { facts: Record<string, unknown> }) => shown);
  expect(facts).toContainEqual({ outputBytes: JSON.stringify(large).length, isOutputStoredSeparately: true });
  expect(facts).toContainEqual({
    approvalHash: "5".repeat(64),
    argumentsBytes: JSON.stringify(waits.arguments).length,
  });
  expect(nodes.at(-1)).toMatchObject({ type: "plan.ended", status: "PARTIAL" });
  expect(JSON.stringify(nodes)).not.toContain(SECRET);
});

const ITEMS = 250;
const LIST_PLAN = {
  steps: [
    {
      id: "each",
      forEach: {
        items: Array.from({ length: ITEMS }, (_, n) => `a${n}`),
        as: "name",
        do: { tool: "createAuthor", arguments: { name: "<<name>>", email: "a@test.com" } },
      },
    },
  ],
};

test("one entry with very many events is split over many pages, each event once and in order", async () => {
  const { requestId, planId } = await submit(LIST_PLAN);
  const claim = await claimOnceDue(running.store, planId as never);
  const items = Array.from({ length: ITEMS }, (_, item) => ({
    key: `each[${item}]`,
    stepId: "each",
    item,
    status: "COMPLETED" as const,
    attempts: 1,
    output: { _id: item },
  }));
  await writeCalled(running.store, claim, items);
  const small = await allOf(requestId, 7);
  expect(small).toEqual(await allOf(requestId, 100));
  // The lease, the items, and for each item a call, its end and its change.
  expect(small.map(({ type }) => type).filter((type) => type === "step.changed")).toHaveLength(ITEMS);
  expect(small).toHaveLength(2 + 3 * ITEMS);
  expect(new Set(small.map(({ id }) => id)).size).toBe(small.length);
});

test("a call for many units names 100 of them and their total number", async () => {
  const { requestId, planId } = await submit(LIST_PLAN);
  const claim = await claimOnceDue(running.store, planId as never);
  const pending = Array.from({ length: ITEMS }, (_, item) => ({
    key: `each[${item}]`,
    stepId: "each",
    item,
    status: "PENDING" as const,
    attempts: 0,
  }));
  await running.store.writeRecords(claim, pending, []);
  const items = Array.from({ length: ITEMS }, (_, item) => item);
  const call = { key: "each", stepId: "each", items, attempt: 1, tool: "createAuthor", arguments: {} };
  const safe = { effectClass: "R" as const, mayAct: false, timeoutMs: 1_000 };
  await running.store.writeIntents(claim, [
    { call: { ...call, ...safe }, attemptId: "a1", argsHash: "test" },
  ]);
  const { nodes } = await pageOf(requestId);
  const started = nodes.find(({ type }: { type: string }) => type === "attempt.started");
  expect(started).toMatchObject({ stepId: "each", key: null, facts: { unitsCount: ITEMS } });
  expect(started.facts.units).toHaveLength(100);
});

test("a reader that continues at its last cursor gets the later events", async () => {
  const { requestId, planId } = await submit();
  const none = await pageOf(requestId);
  expect(none).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null } });
  await failAs(running.store, planId as never);
  const first = await pageOf(requestId);
  const after = first.pageInfo.endCursor;
  expect((await pageOf(requestId, { after })).nodes).toEqual([]);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { version } }", { id: requestId });
  const since = await pageOf(requestId, { after });
  expect(since.nodes).toMatchObject([
    { type: "plan.stored", status: "READY", facts: { version: 2, isValid: true, carriedCount: 0 } },
    { type: "execution.asked" },
  ]);
});

test("a request has the same events as the query, and the largest page is within the cost limit of a document", async () => {
  const { requestId, planId } = await submit();
  await executeAs(running.store, planId as never);
  const { nodes } = await pageOf(requestId, { first: 100 });
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { events { nodes { id } } } }",
    { id: requestId },
  );
  expect(body.data.request.events.nodes).toEqual(nodes.map(({ id }: { id: string }) => ({ id })));
});

test("another tenant's request has no events", async () => {
  const { requestId, planId } = await submit();
  await executeAs(running.store, planId as never);
  const intruder = await bearer(running.store, ["admin"], { tenant: "intruder" });
  const { body } = await running.graphql(EVENTS, { id: requestId }, intruder);
  expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: "NOT_FOUND" } }] });
  expect(await running.store.listEventPages("intruder", [requestId as never], { first: 1 })).toEqual(
    new Map([[requestId, { items: [], cursor: null }]]),
  );
});

test("the schema describes every type of event", () => {
  const type = buildSchema(SDL).getType("JournalEvent");
  const described = (isObjectType(type) && type.getFields()["type"]?.description) || "";
  const missing = JournalEventSchema.options
    .map(({ shape }) => shape.type.value)
    .filter((name) => !described.includes(name));
  expect(missing).toEqual([]);
});
