/** `requests(filter, orderBy)` as clients use it, with matching and other rows. */
import type { PlanId, RequestId } from "@planwright/plan";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { claimOnceDue, failAs, failPlanningAs, playStep } from "./workers.ts";

const SUBMIT = `mutation ($plan: JSON!, $query: String, $execute: Boolean!) {
  submitPlan(plan: $plan, query: $query, execute: $execute) { requestId planId } }`;
const LIST = `query ($first: Int!, $after: String, $filter: RequestFilter, $orderBy: RequestOrder) {
  requests(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    nodes { requestId createdAt } pageInfo { hasNextPage endCursor } } }`;

let running: RunningApi;
/** Requests in order of creation: its tool failed, never started, its planning failed. */
let ids: Record<string, string>;
/** The creation time of the middle request. */
let middle: string;

beforeAll(async () => {
  running = await startTestApi();
  const { graphql, store } = running;
  const failed = await graphql(SUBMIT, { plan: BLOG_PLAN, query: "An Alpha report, 100%", execute: true });
  const { requestId: alpha, planId } = failed.body.data.submitPlan;
  await failAs(store, planId as PlanId);
  const plan = { steps: BLOG_PLAN.steps.slice(0, 1) };
  const waiting = await graphql(SUBMIT, { plan, query: "a beta Report", execute: false });
  const beta: string = waiting.body.data.submitPlan.requestId;
  await passAMillisecond();
  const planned = await graphql('mutation { createPlan(query: "gamma") { requestId } }');
  const gamma: string = planned.body.data.createPlan.requestId;
  await failPlanningAs(store, gamma as RequestId, { code: "NOT_UNDERSTOOD", message: "say it otherwise" });
  ids = { [alpha]: "alpha", [beta]: "beta", [gamma]: "gamma" };
  const found = await store.getRequest("default", beta as RequestId);
  middle = found?.createdAt.toISOString() ?? "";
});
afterAll(() => running.close());

/** Two requests of one millisecond would have no defined order. */
async function passAMillisecond(): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() <= startedAt + 1) await new Promise((resolve) => setImmediate(resolve));
}

async function list(variables: object): Promise<{ names: (string | undefined)[]; endCursor: string | null }> {
  const { body } = await running.graphql(LIST, { first: 10, ...variables });
  expect(body.errors).toBeUndefined();
  const { nodes, pageInfo } = body.data.requests;
  return {
    names: nodes.map(({ requestId }: { requestId: string }) => ids[requestId]),
    endCursor: pageInfo.endCursor,
  };
}

test.each<[object, string[]]>([
  [{ tool: "createBlog" }, ["alpha"]],
  [{ tool: "createAuthor" }, ["alpha", "beta"]],
  [{ tool: "sendMail" }, []],
  [{ errorCode: "TOOL_FAILED" }, ["alpha"]],
  [{ errorCode: "NOT_UNDERSTOOD" }, ["gamma"]],
  [{ errorCode: "TOOL_TIMEOUT" }, []],
  [{ tool: "createAuthor", errorCode: "TOOL_FAILED" }, ["alpha"]],
  [{ tool: "createAuthor", errorCode: "NOT_UNDERSTOOD" }, []],
  [{ text: "REPORT" }, ["alpha", "beta"]],
  [{ text: "100%" }, ["alpha"]],
  [{ text: ".*" }, []],
  [{ text: "report", tool: "createBlog" }, ["alpha"]],
  [{ status: ["FAILED"], text: "gamma" }, ["gamma"]],
])("the filter %j gives %j", async (filter, names) => {
  expect(new Set((await list({ filter })).names)).toEqual(new Set(names));
});

test("createdFrom is inclusive, createdBefore is exclusive", async () => {
  const later = new Date(Date.parse(middle) + 1).toISOString();
  const between = async (filter: object) => (await list({ filter, orderBy: "OLDEST_FIRST" })).names;
  expect(await between({ createdFrom: middle })).toEqual(["beta", "gamma"]);
  expect(await between({ createdBefore: middle })).toEqual(["alpha"]);
  expect(await between({ createdFrom: middle, createdBefore: later })).toEqual(["beta"]);
});

test("pages keep the order, in both directions", async () => {
  expect((await list({})).names).toEqual(["gamma", "beta", "alpha"]);
  const orderBy = "OLDEST_FIRST";
  const page = await list({ first: 2, orderBy });
  expect(page.names).toEqual(["alpha", "beta"]);
  expect((await list({ first: 2, after: page.endCursor, orderBy })).names).toEqual(["gamma"]);
});

test("a request is named by its sentence, one without a sentence by the tools of its plan", async () => {
  const { graphql } = running;
  const each = {
    forEach: { items: [1], as: "x", do: { tool: "createBlog", arguments: BLOG_PLAN.steps[1]?.arguments } },
  };
  const steps = [BLOG_PLAN.steps[0], { id: "each", ...each }];
  const made = await graphql(SUBMIT, { plan: { steps }, query: null, execute: false });
  const requestId: string = made.body.data.submitPlan.requestId;
  const { body } = await graphql(
    "query ($id: ID!) { request(requestId: $id) { title query } requests(first: 10, filter: { status: [FAILED] }) { nodes { title } } }",
    { id: requestId },
  );
  expect(body.data.request).toEqual({ title: "createAuthor → createBlog", query: null });
  expect(body.data.requests.nodes.map(({ title }: { title: string }) => title)).toEqual([
    "gamma",
    "An Alpha report, 100%",
  ]);
  const cancelled = await graphql(
    "mutation ($requests: [RequestVersion!]) { cancelRequests(requests: $requests, dryRun: true) { results { title } } }",
    { requests: [{ requestId, version: 1 }] },
  );
  expect(cancelled.body.data.cancelRequests.results).toEqual([{ title: "createAuthor → createBlog" }]);
});

test("calledTool finds the requests whose plans called the tool within a time, and no plan that only names it", async () => {
  const { graphql, store } = running;
  const notFound = {
    error: { code: "TOOL_UNREACHABLE", message: "no server", retryable: true },
    arguments: {},
  };
  const submitted: string[] = [];
  for (const isUnsent of [true, undefined]) {
    const { body } = await graphql(SUBMIT, { plan: BLOG_PLAN, query: null, execute: true });
    const { requestId, planId } = body.data.submitPlan;
    submitted.push(requestId);
    const claim = await claimOnceDue(store, planId);
    await playStep(store, claim, "createAuthor", { ...notFound, ...(isUnsent && { isUnsent }) });
  }
  const [unsent = "", sent = ""] = submitted;
  const called = async (filter: object) => {
    const { body } = await graphql(LIST, { first: 10, filter });
    expect(body.errors).toBeUndefined();
    return body.data.requests.nodes.map((node: { requestId: string }) => node.requestId);
  };
  const now = new Date(store.now() + 1_000).toISOString();
  const before = new Date(store.now() - 3_600_000).toISOString();
  expect(await called({ tool: "createAuthor" })).toEqual(expect.arrayContaining([unsent, sent]));
  const all = await called({ calledTool: "createAuthor" });
  expect(all).toContain(sent);
  expect(all).not.toContain(unsent);
  expect(await called({ calledTool: "createAuthor", calledFrom: before, calledBefore: now })).toEqual(all);
  expect(await called({ calledTool: "createAuthor", status: ["EXECUTING"] })).toEqual([sent]);
  for (const filter of [{ calledFrom: now }, { calledBefore: before }]) {
    expect(await called({ calledTool: "createAuthor", ...filter })).toEqual([]);
  }
  expect(await called({ calledTool: "createBlog" })).not.toContain(sent);
});
