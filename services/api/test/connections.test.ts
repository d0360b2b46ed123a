/** Lists of a request and of a plan in pages, as clients read them. */
import type { PlanId, RequestId } from "@planwright/plan";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReads } from "../src/operation/reads.ts";
import { answerBytes } from "./answer-bytes.ts";
import { type Answer, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { claimOnceDue, failAs, planAs, writeCalled } from "./workers.ts";

const ITEMS = 25;
const author = (name: string) => ({ tool: "createAuthor", arguments: { name, email: "a@test.com" } });
const LIST_PLAN = {
  steps: [
    { id: "before", ...author("Alice") },
    {
      id: "each",
      dependsOn: ["before"],
      forEach: {
        items: Array.from({ length: ITEMS }, (_, n) => `a${n}`),
        as: "name",
        do: author("<<name>>"),
      },
    },
    { id: "after", ...author("Bob"), dependsOn: ["each"] },
    { id: "free", ...author("Carol") },
  ],
};
const STEPS = `query ($id: ID!, $first: Int!, $after: String, $filter: StepFilter) { plan(id: $id) {
  stepsConnection(first: $first, after: $after, filter: $filter) {
    edges { cursor node { key } } nodes { key item status dependsOn } totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

let running: RunningApi;
/** A plan with a running list step: every fifth item has failed. */
let planId: PlanId;
let requestId: RequestId;

beforeAll(async () => {
  running = await startTestApi();
  await running.store.addWorker({ _id: "test executor", kind: "executor", deadAfterMs: 3_600_000 });
  ({ planId, requestId } = await halfDone());
});
afterAll(() => running.close());

async function halfDone(): Promise<{ planId: PlanId; requestId: RequestId }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: LIST_PLAN },
  );
  const ids = body.data.submitPlan;
  const claim = await claimOnceDue(running.store, ids.planId);
  const error = { code: "TOOL_FAILED", message: "no", retryable: false };
  const done = { status: "COMPLETED" as const, attempts: 1, output: { _id: "a" } };
  const failed = { status: "FAILED" as const, attempts: 1, error };
  const items = Array.from({ length: ITEMS }, (_, item) => ({
    key: `each[${item}]`,
    stepId: "each",
    item,
    ...(item % 5 === 0 ? failed : done),
  }));
  await writeCalled(running.store, claim, [{ key: "before", stepId: "before", ...done }, ...items]);
  return ids;
}

async function pageOf(variables: object) {
  const { body } = await running.graphql(STEPS, { id: planId, first: 10, ...variables });
  expect(body.errors).toBeUndefined();
  return body.data.plan.stepsConnection;
}

const keysOf = (page: { nodes: { key: string }[] }) => page.nodes.map(({ key }) => key);

test("the pages of a plan's steps contain the same as `steps`, in the same order", async () => {
  const { body } = await running.graphql("query ($id: ID!) { plan(id: $id) { steps { key } } }", {
    id: planId,
  });
  const keys: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page = await pageOf({ after });
    keys.push(...keysOf(page));
    expect(page.totalCount).toBe(ITEMS + 4);
    expect(page.edges.map(({ node }: { node: object }) => node)).toEqual(
      page.nodes.map(({ key }: { key: string }) => ({ key })),
    );
    expect(page.pageInfo).toMatchObject({
      hasPreviousPage: false,
      startCursor: page.edges[0].cursor,
      endCursor: page.edges.at(-1).cursor,
    });
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  expect(keys).toEqual(body.data.plan.steps.map(({ key }: { key: string }) => key));
});

test.each<[object, string[]]>([
  [{ items: false }, ["before", "each", "after", "free"]],
  [{ status: ["FAILED"] }, ["each[0]", "each[5]", "each[10]", "each[15]", "each[20]"]],
  [{ status: ["FAILED"], stepId: "before" }, []],
  [{ status: [], stepId: "after" }, ["after"]],
  [{ stepId: "nowhere" }, []],
  [{ key: "each[17]" }, ["each[17]"]],
  [{ key: "each" }, ["each"]],
  [{ key: "each[17]", stepId: "each", items: true, status: ["COMPLETED"] }, ["each[17]"]],
  [{ key: "each[17]", stepId: "before" }, []],
  [{ key: "each[07]" }, []],
  [{ key: "each[900]" }, []],
  [{ key: "nowhere[0]" }, []],
])("the filter %j gives %j, and counts them", async (filter, keys) => {
  const page = await pageOf({ filter });
  expect(keysOf(page)).toEqual(keys);
  expect(page.totalCount).toBe(keys.length);
});

test("the items of one list step can be read in pages", async () => {
  const filter = { stepId: "each", items: true };
  const first = await pageOf({ filter, first: 3 });
  expect(first.nodes.map(({ item }: { item: number }) => item)).toEqual([0, 1, 2]);
  expect(first.totalCount).toBe(ITEMS);
  const next = await pageOf({ filter, first: 3, after: first.pageInfo.endCursor });
  expect(keysOf(next)).toEqual(["each[3]", "each[4]", "each[5]"]);
});

test("a step shows its wait reason if it waits for a step on another page", async () => {
  const waits = async (fields: string) => {
    const { body } = await running.graphql(`query ($id: ID!) { plan(id: $id) { ${fields} } }`, {
      id: planId,
    });
    return body.data.plan;
  };
  const { steps } = await waits("steps { key waitReason }");
  const reasons = new Map(
    steps.map(({ key, waitReason }: { key: string; waitReason: string }) => [key, waitReason]),
  );
  expect([...new Set(reasons.values())]).toEqual([null, "limit", "dependency"]);
  for (const stepId of ["before", "each", "after", "free"]) {
    const { stepsConnection } = await waits(
      `stepsConnection(filter: { stepId: "${stepId}", items: false }) { nodes { key waitReason } }`,
    );
    expect(stepsConnection.nodes).toEqual([{ key: stepId, waitReason: reasons.get(stepId) }]);
  }
});

const WITH_PAGES = (field: string) => `query ($id: ID!, $first: Int!, $after: String) {
  request(requestId: $id) { plan { stepsConnection(first: 1) { nodes { key } } } ${field} } }`;
const PAGES =
  "(first: $first, after: $after) { nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } }";

async function ofRequest(id: string, field: string, variables: object): Promise<Answer["body"]> {
  const { body } = await running.graphql(WITH_PAGES(`${field}${PAGES}`), { id, first: 1, ...variables });
  return body;
}

test("versions and model calls can be read in pages, in list order", async () => {
  const made = await running.graphql('mutation { createPlan(query: "Create both") { requestId planId } }');
  const id = made.body.data.createPlan.requestId;
  await planAs(running.store, id);
  await failAs(running.store, made.body.data.createPlan.planId);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { version } }", { id });
  const lists = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { plans { id } modelCalls { id } } }",
    { id },
  );
  const { plans, modelCalls } = lists.body.data.request;
  expect([plans.length, modelCalls.length]).toEqual([2, 1]);
  const { plansConnection: newest } = (await ofRequest(id, "plansConnection", {})).data.request;
  expect(newest).toMatchObject({ nodes: [plans[0]], pageInfo: { hasNextPage: true } });
  const after = newest.pageInfo.endCursor;
  const { plansConnection: oldest } = (await ofRequest(id, "plansConnection", { after })).data.request;
  expect(oldest).toMatchObject({ nodes: [plans[1]], pageInfo: { hasNextPage: false } });
  const { modelCallsConnection } = (await ofRequest(id, "modelCallsConnection", {})).data.request;
  expect(modelCallsConnection).toMatchObject({ nodes: modelCalls, pageInfo: { hasNextPage: false } });
});

test.each(["plan { stepsConnection", "plansConnection", "modelCallsConnection"])(
  "%s refuses invalid page sizes and unknown cursors",
  async (name) => {
    const field = `${name}${PAGES}${name.includes("{") ? " }" : ""}`;
    const ask = async (variables: object) => {
      const document = `query ($id: ID!, $first: Int!, $after: String) { request(requestId: $id) { ${field} } }`;
      const { body } = await running.graphql(document, { id: requestId, first: 1, ...variables });
      return body.errors;
    };
    const refused = { code: "BAD_USER_INPUT", retryable: false, remedy: expect.any(String) };
    for (const wrong of [{ first: 0 }, { first: -1 }, { first: 101 }]) {
      expect(await ask(wrong)).toMatchObject([{ extensions: { ...refused, argument: "first" } }]);
    }
    for (const after of ["nonsense", "bm9uc2Vuc2U", "x".repeat(201)]) {
      expect(await ask({ after })).toMatchObject([{ extensions: { ...refused, argument: "after" } }]);
    }
    expect(await ask({ first: 100 })).toBeUndefined();
  },
);

test("a follower of a request gets pages of steps from the shared read", async () => {
  const { store } = running;
  const [request, [plan = null], steps] = await Promise.all([
    store.getRequest("default", requestId),
    store.getPlanHeads("default", [planId]),
    store.listStepHeads("default", [planId]),
  ]);
  const unexpectedRead = () => expect.unreachable("the store was read");
  const reads = createReads({ ...store, readUnits: unexpectedRead }, "default", answerBytes());
  reads.primeSnapshot({ request: request!, plan, steps });
  const page = await reads.stepPage(planId, { first: 1, filter: { items: false } });
  expect(page.items.map(({ key }) => key)).toEqual(["before"]);
  expect(await reads.stepCount(planId, { items: false })).toBe(4);
  expect(await reads.stepStatus(planId, "after")).toBe("PENDING");
});

test("a follower of a request may follow a page of its steps", async () => {
  const client = webSocketClient(running.api.url);
  const states = client.iterate({
    query: `subscription ($id: ID!) { requestUpdated(requestId: $id) { plan {
      stepsConnection(first: 2, filter: { items: false }) { nodes { key waitReason } totalCount } } } }`,
    variables: { id: requestId },
  });
  const { value } = await states.next();
  await states.return?.();
  const nodes = [
    { key: "before", waitReason: null },
    { key: "each", waitReason: "limit" },
  ];
  expect(value).toEqual({
    data: { requestUpdated: { plan: { stepsConnection: { nodes, totalCount: 4 } } } },
  });
});

const PAGE_OF_PAGES = (requests: string, steps: string) =>
  `{ requests${requests} { nodes { plan { stepsConnection${steps} { nodes { key status attempts { attempt } } } } } } }`;
const SIZES = "query ($many: Int!, $few: Int! = 100) ";

test.each<[string, object]>([
  [PAGE_OF_PAGES("(first: 100)", "(first: 100)"), {}],
  [SIZES + PAGE_OF_PAGES("(first: $many)", "(first: $few)"), { many: 100, few: 100 }],
  [SIZES + PAGE_OF_PAGES("(first: $many)", "(first: $few)"), { many: 100 }],
  [PAGE_OF_PAGES("", "(first: 100)"), {}],
  [
    "query ($first: Int!) { ...Q } fragment Q on Query { requests(first: $first) { nodes { plan { stepsConnection { nodes { key output } } } } } }",
    { first: 100 },
  ],
])("a page of pages is refused however its sizes are given: %s", async (document, variables) => {
  const answer = await running.graphql(document, variables);
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toMatchObject([
    { extensions: { code: "QUERY_TOO_COMPLEX", limit: "cost", max: 10_000, remedy: expect.any(String) } },
  ]);
});

test.each<[string, object]>([
  [PAGE_OF_PAGES("(first: 5)", "(first: 10)"), {}],
  [SIZES + PAGE_OF_PAGES("(first: $many)", "(first: $few)"), { many: 5, few: 10 }],
])("a small page of small pages is answered: %s", async (document, variables) => {
  const answer = await running.graphql(document, variables);
  expect(answer.body.errors).toBeUndefined();
  expect(answer.body.data.requests.nodes.length).toBeGreaterThan(0);
});

test("the cost of a subscription includes its pages", async () => {
  const client = webSocketClient(running.api.url);
  const nested = `plan { stepsConnection(first: $first) { nodes { key request: status attempts { attempt attemptId executor
    startedAt endedAt durationMs outcome error { code message retryable data } } } } }`;
  const query = `subscription ($id: ID!, $first: Int!) { requestUpdated(requestId: $id) { plansConnection(first: $first) { nodes {
    ${nested.replace("plan {", "").replace(/\}$/, "")} } } } }`;
  const firstEvent = client.iterate({ query, variables: { id: requestId, first: 100 } }).next();
  await expect(firstEvent).rejects.toMatchObject([
    { extensions: { code: "QUERY_TOO_COMPLEX", limit: "cost" } },
  ]);
});
