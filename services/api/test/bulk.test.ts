/** Many requests changed by one call: the call changes exactly the requests that the client has seen. */
import type { RequestId } from "@planwright/plan";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { doubtAs, executeAs, failAs, failOpenAs, failPlanningAs, planAs } from "./workers.ts";

let running: RunningApi;
let headers: { authorization: string };
let tenants = 0;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
});
afterAll(() => running.close());
/** Each test uses a separate tenant. */
beforeEach(async () => {
  tenants += 1;
  headers = await bearer(running.store, ["admin"], { tenant: `t${tenants}` });
});

interface Seen {
  requestId: string;
  version: number;
}
interface Bulk {
  dryRun: boolean;
  count: number;
  changed: number;
  refused: number;
  mayRepeat: number;
  hasMore: boolean;
  endCursor: string | null;
  results: (Seen & {
    status: string;
    query: string | null;
    changed: boolean;
    error: { code: string } | null;
  })[];
}

const SELECTED = `dryRun count changed refused mayRepeat hasMore endCursor
  results { requestId version status query changed error { code message remedy retryable } }`;

async function send(name: string, variables: object) {
  const isRerun = name.startsWith("re") && name !== "resumeRequests";
  const more = `${isRerun ? ", $key: String" : ""}${name === "rerunRequests" ? ", $from: ID" : ""}`;
  const given = `${isRerun ? ", idempotencyKey: $key" : ""}${name === "rerunRequests" ? ", from: $from" : ""}`;
  const document = `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean! = true, $after: String${more}) {
    answer: ${name}(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after${given}) { ${SELECTED} } }`;
  return (await running.graphql(document, variables, headers)).body;
}
const bulk = async (name: string, variables: object): Promise<Bulk> =>
  (await send(name, variables)).data.answer;
const seenIn = ({ results }: Bulk): Seen[] =>
  results.map(({ requestId, version }) => ({ requestId, version }));

async function submitted(play?: typeof failAs, execute = true): Promise<string> {
  const { body } = await running.graphql(
    'mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute, query: "Both") { requestId planId } }',
    { plan: BLOG_PLAN, execute },
    headers,
  );
  const { requestId, planId } = body.data.submitPlan;
  await play?.(running.store, planId);
  running.offered.length = 0;
  return requestId;
}
const statusOf = async (requestId: string) =>
  (
    await running.graphql(
      "query ($id: ID!) { request(requestId: $id) { status } }",
      { id: requestId },
      headers,
    )
  ).body.data.request.status;

test("a dry run lists the requests that would be changed, and changes nothing", async () => {
  const failed = [await submitted(failAs), await submitted(failAs)];
  await submitted(executeAs);
  const answer = await bulk("retryFailedRequests", { filter: {} });
  expect(answer).toMatchObject({ dryRun: true, count: 2, changed: 2, refused: 0, hasMore: false });
  expect(answer.results).toEqual(
    failed.toReversed().map((requestId) => ({
      requestId,
      version: 1,
      status: "FAILED",
      query: "Both",
      changed: true,
      error: null,
    })),
  );
  expect(await statusOf(failed[0]!)).toBe("FAILED");
  expect(running.offered).toEqual([]);
});

test("the real call changes exactly the requests of the dry run", async () => {
  const failed = await submitted(failAs);
  const looked = await bulk("retryFailedRequests", { filter: { errorCode: "TOOL_FAILED" } });
  const later = await submitted(failAs);
  const answer = await bulk("retryFailedRequests", { dryRun: false, requests: seenIn(looked) });
  expect(answer).toMatchObject({ dryRun: false, count: 1, changed: 1, refused: 0 });
  expect(answer.results).toMatchObject([
    { requestId: failed, version: 2, status: "EXECUTING", changed: true },
  ]);
  expect(await statusOf(later)).toBe("FAILED");
  expect(running.offered).toEqual([expect.stringContaining("execution plan_")]);
});

test("a request whose version changed since the dry run is refused, and the others are changed", async () => {
  const [rerun, unchanged] = [await submitted(failAs), await submitted(failAs)];
  const looked = await bulk("retryFailedRequests", { filter: {} });
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { status } }", { id: rerun }, headers);
  const answer = await bulk("retryFailedRequests", { dryRun: false, requests: seenIn(looked) });
  expect(answer).toMatchObject({ count: 2, changed: 1, refused: 1 });
  expect(answer.results).toMatchObject([
    { requestId: unchanged, changed: true, error: null },
    {
      requestId: rerun,
      version: 2,
      changed: false,
      error: { code: "STATE_CONFLICT", retryable: false, remedy: expect.stringContaining("fromVersion: 2") },
    },
  ]);
  const again = await bulk("cancelRequests", { requests: seenIn(looked) });
  expect(again.results).toMatchObject([
    { changed: false, error: { code: "STATE_CONFLICT" } },
    { changed: false, error: { code: "STATE_CONFLICT" } },
  ]);
});

test("a repeated call with the same key changes nothing more", async () => {
  await submitted(failAs);
  const looked = await bulk("retryFailedRequests", { filter: {} });
  const call = { dryRun: false, requests: seenIn(looked), key: "again" };
  const [first, second] = [await bulk("retryFailedRequests", call), await bulk("retryFailedRequests", call)];
  expect(second).toEqual(first);
  expect(second.results).toMatchObject([{ version: 2, changed: true }]);
});

test("a dry run reports refusals, with code and remedy", async () => {
  const [doubtful, done] = [await submitted(), await submitted(executeAs)];
  const { planId } = (
    await running.graphql(
      "query ($id: ID!) { request(requestId: $id) { planId } }",
      { id: doubtful },
      headers,
    )
  ).body.data.request;
  await doubtAs(running.store, planId);
  await running.graphql(
    "mutation ($id: ID!) { cancel(requestId: $id) { status } }",
    { id: doubtful },
    headers,
  );
  const claim = (await running.store.claimPlan(planId, "test executor"))!;
  await running.store.finishPlan(claim, { type: "finish", status: "CANCELLED", outputs: null });
  const rerun = await bulk("rerunRequests", { filter: {} });
  expect(rerun.results).toMatchObject([
    { requestId: done, changed: false, error: { code: "STATE_CONFLICT" } },
    {
      requestId: doubtful,
      changed: false,
      error: { code: "STATE_CONFLICT", remedy: expect.stringContaining("resolveInDoubt") },
    },
  ]);
  const from = await bulk("rerunRequests", { filter: { status: ["COMPLETED"] }, from: "createBlog" });
  // It would make a blog once more.
  expect(from).toMatchObject({
    mayRepeat: 1,
    results: [{ requestId: done, changed: false, error: { code: "REPEAT_NOT_ACCEPTED" } }],
  });
});

test("retryFailedRequests leaves out and counts requests with a failed call that may have acted", async () => {
  const [refused, open] = [await submitted(failAs), await submitted(failOpenAs)];
  const requests = [refused, open].map((requestId) => ({ requestId, version: 1 }));
  for (const dryRun of [true, false]) {
    const answer = await bulk("retryFailedRequests", { requests, dryRun });
    expect(answer).toMatchObject({
      changed: 1,
      refused: 1,
      mayRepeat: 1,
      results: [{ changed: true }, { changed: false, error: { code: "REPEAT_NOT_ACCEPTED" } }],
    });
  }
});

test("retryFailedRequests plans a sentence again whose planning failed, with its version as it was seen", async () => {
  const created = await running.graphql(
    'mutation { createPlan(query: "in vain") { requestId } }',
    {},
    headers,
  );
  const { requestId } = created.body.data.createPlan;
  await failPlanningAs(running.store, requestId, { code: "MODEL_UNREACHABLE", message: "HTTP 500" });
  const seen = await bulk("retryFailedRequests", { filter: { errorCode: "MODEL_UNREACHABLE" } });
  expect(seen.results).toMatchObject([{ requestId, changed: true, status: "FAILED" }]);
  expect(await statusOf(requestId)).toBe("FAILED");
  const done = await bulk("retryFailedRequests", { requests: seenIn(seen), dryRun: false, key: "again" });
  expect(done.results).toMatchObject([{ requestId, changed: true, status: "PLANNING" }]);
});

test("retryFailedRequests refuses a request that did not fail", async () => {
  const requestId = await submitted(executeAs);
  const { results } = await bulk("retryFailedRequests", { requests: [{ requestId, version: 1 }] });
  expect(results).toMatchObject([{ changed: false, error: { code: "STATE_CONFLICT" } }]);
});

test("requests that plan, are ready or run are cancelled, also by a repeated call; ended requests are not", async () => {
  const [ready, queued, done] = [
    await submitted(undefined, false),
    await submitted(),
    await submitted(executeAs),
  ];
  const { body } = await running.graphql('mutation { createPlan(query: "Both") { requestId } }', {}, headers);
  const planning = body.data.createPlan.requestId;
  const looked = await bulk("cancelRequests", { filter: {} });
  expect(new Set(seenIn(looked).map(({ requestId }) => requestId))).toEqual(
    new Set([ready, queued, planning]),
  );
  expect(looked).toMatchObject({ changed: 3, refused: 0 });
  expect(await statusOf(ready)).toBe("READY");

  const requests = [...seenIn(looked), { requestId: done, version: 1 }];
  const answer = await bulk("cancelRequests", { dryRun: false, requests });
  expect(answer).toMatchObject({ count: 4, changed: 3, refused: 1 });
  expect(answer.results.at(-1)).toMatchObject({ requestId: done, error: { code: "STATE_CONFLICT" } });
  expect([await statusOf(ready), await statusOf(planning)]).toEqual(["CANCELLED", "CANCELLED"]);
  expect(await bulk("cancelRequests", { dryRun: false, requests: seenIn(looked) })).toMatchObject({
    changed: 3,
  });
  expect(await bulk("cancelRequests", { dryRun: true, requests: seenIn(looked) })).toMatchObject({
    changed: 3,
  });
});

test("paused plans are resumed, and no other request is listed or changed", async () => {
  const tenant = `t${tenants}`;
  const planIdOf = async (requestId: string) =>
    (await running.store.getRequest(tenant, requestId as RequestId))!.planId;
  const pause = async (requestId: string) =>
    running.store.requestPause(tenant, await planIdOf(requestId), "client");
  const [paused, later] = [await submitted(), await submitted()];
  for (const requestId of [paused, later]) await pause(requestId);
  // More than one page of requests that are not paused is newer.
  const others = await Promise.all(Array.from({ length: 101 }, () => submitted()));
  const looked = await bulk("resumeRequests", { filter: {} });
  expect(looked).toMatchObject({ dryRun: true, count: 2, changed: 2, refused: 0, hasMore: false });
  expect(seenIn(looked).map(({ requestId }) => requestId)).toEqual([later, paused]);

  const requests = [...seenIn(looked), { requestId: others[0]!, version: 1 }];
  running.offered.length = 0;
  const answer = await bulk("resumeRequests", { dryRun: false, requests });
  expect(answer).toMatchObject({ count: 3, changed: 2, refused: 1 });
  expect(answer.results.at(-1)).toMatchObject({ requestId: others[0], error: { code: "STATE_CONFLICT" } });
  expect(running.offered).toHaveLength(2);
  expect(await bulk("resumeRequests", { filter: {} })).toMatchObject({ count: 0, hasMore: false });
  // The version that the client saw is not the current one.
  await pause(paused);
  const old = await bulk("resumeRequests", { requests: [{ requestId: paused, version: 2 }] });
  expect(old.results).toMatchObject([{ changed: false, error: { code: "STATE_CONFLICT" } }]);
});

test("more than 100 requests are listed page by page, each once", async () => {
  const submit = running.store.createRequest;
  const tenant = `t${tenants}`;
  await Promise.all(Array.from({ length: 101 }, () => submit({ tenant, query: "Both", autoExecute: true })));
  const first = await bulk("cancelRequests", { filter: { text: "both" } });
  expect(first).toMatchObject({ count: 100, hasMore: true, endCursor: expect.any(String) });
  const second = await bulk("cancelRequests", { filter: { text: "both" }, after: first.endCursor });
  expect(second).toMatchObject({ count: 1, hasMore: false });
  const ids = [...seenIn(first), ...seenIn(second)].map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(101);
});

test("ids of other tenants look like unknown ids, and filters find no requests of other tenants", async () => {
  const requestId = await submitted(failAs);
  headers = await bearer(running.store, ["admin"], { tenant: "intruder" });
  for (const name of ["cancelRequests", "resumeRequests", "rerunRequests", "retryFailedRequests"]) {
    expect(await bulk(name, { filter: {} })).toMatchObject({ count: 0, results: [] });
    for (const dryRun of [true, false]) {
      const { results } = await bulk(name, { dryRun, requests: [{ requestId, version: 1 }] });
      expect(results).toMatchObject([
        { requestId, version: null, status: null, query: null, error: { code: "NOT_FOUND" } },
      ]);
    }
  }
});

test("with too many unfinished plans, further requests are refused and may be retried", async () => {
  const few = await startTestApi({ maxUnfinishedPlans: 3 });
  onTestFinished(() => few.close());
  const waiting = { tenant: "default", query: "Both", autoExecute: true };
  for (let made = 0; made < 3; made += 1) await few.store.createRequest(waiting);
  const requests: Seen[] = [];
  for (let made = 0; made < 5; made += 1) {
    const { _id: requestId, planId } = await few.store.createRequest(waiting);
    await planAs(few.store, requestId);
    await failAs(few.store, planId);
    requests.push({ requestId, version: 1 });
  }
  const document = `mutation ($requests: [RequestVersion!]!) { answer: retryFailedRequests(dryRun: false, requests: $requests) { ${SELECTED} } }`;
  const { body } = await few.graphql(document, { requests });
  const errors = body.data.answer.results.flatMap(({ error }: { error: unknown }) => error ?? []);
  expect(errors.length).toBeGreaterThanOrEqual(2);
  expect(errors[0]).toMatchObject({ code: "OVERLOADED", retryable: true });
});

test("a call with more than 100 requests is refused completely", async () => {
  const requestId = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
  const requests = Array.from({ length: 101 }, () => ({ requestId, version: 1 }));
  const { errors } = await send("cancelRequests", { requests, dryRun: false });
  expect(errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "requests" });
});
