/** A request as folded from its journal up to an earlier entry. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi, submitPlan } from "./running-api.ts";
import { askApprovalAs, claimOnceDue, executeAs, failAs, writeCalled } from "./workers.ts";

const SHOWN = `key item status waitReason dependsOn tool carriedFrom approved effectClass startedAt finishedAt durationMs warnings
  error { code message retryable remedy } attempts { attempt attemptId executor startedAt endedAt outcome error { code } }`;
const COUNTS = "counts { total completed failed skipped cancelled inDoubt running pending }";
const AT = `query ($id: ID!, $seq: Int!, $filter: StepFilter) { request(requestId: $id, at: $seq) { requestId seq at
  plan { planId version status error { code remedy } startedAt finishedAt ${COUNTS} steps(filter: $filter) { ${SHOWN} } } } }`;
const NOW = `query ($id: ID!) { request(requestId: $id) { seq plan { planId version status ${COUNTS} steps { ${SHOWN} } } } }`;

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const submit = (plan?: object) => submitPlan(running, plan);

async function at(id: string, seq: number, filter: object | null = null) {
  const { body } = await running.graphql(AT, { id, seq, filter });
  expect(body.errors).toBeUndefined();
  return body.data.request;
}

async function now(id: string) {
  const { body } = await running.graphql(NOW, { id });
  expect(body.errors).toBeUndefined();
  return body.data.request;
}

type Told = Awaited<ReturnType<typeof at>>;
const statusesOf = ({ plan }: Told): string =>
  `${plan.status}: ${plan.steps.map(({ status }: { status: string }) => status).join(" ")}`;

test("each entry adds its events, and before the first one there is no state", async () => {
  const { requestId, planId } = await submit();
  expect(await now(requestId)).toMatchObject({ seq: 0 });
  await executeAs(running.store, planId as never);
  const { seq: last } = await now(requestId);
  expect(await at(requestId, 0)).toEqual({ requestId, seq: 0, at: null, plan: null });
  const shown = [];
  for (let seq = 1; seq <= last; seq++) shown.push(await at(requestId, seq));
  expect(shown.map(statusesOf)).toEqual([
    "RUNNING: RUNNING PENDING",
    "RUNNING: COMPLETED PENDING",
    "RUNNING: COMPLETED RUNNING",
    "RUNNING: COMPLETED COMPLETED",
    "COMPLETED: COMPLETED COMPLETED",
  ]);
  const [first] = shown;
  expect(first).toMatchObject({ seq: 1, at: expect.stringMatching(/Z$/) });
  expect(first.plan).toMatchObject({ planId, version: 1, finishedAt: null });
  expect(first.plan.counts).toMatchObject({ total: 2, running: 1, pending: 1, completed: 0 });
  const [author, blog] = first.plan.steps;
  // Its dependency has ended then, and no entry says what else it waits for.
  expect(shown[1].plan.steps[1]).toMatchObject({ status: "PENDING", waitReason: null });
  expect(author).toMatchObject({
    waitReason: null,
    attempts: [{ attempt: 1, endedAt: null, outcome: null }],
  });
  expect(blog).toMatchObject({ waitReason: "dependency", dependsOn: ["createAuthor"], attempts: [] });
  expect(first.plan.startedAt).toEqual(expect.any(String));
  expect(shown.at(-1).plan).toMatchObject({ finishedAt: expect.any(String) });
});

test.each([
  ["completed", executeAs],
  ["failed", failAs],
  ["waiting for an approval", askApprovalAs],
])("at its last entry, and above it, a request that is %s is shown as it is now", async (_, play) => {
  const { requestId, planId } = await submit();
  await play(running.store, planId as never);
  const { seq, plan } = await now(requestId);
  for (const given of [seq, seq + 1, 2_147_483_647]) {
    const shown = await at(requestId, given);
    expect(shown.seq).toBe(seq);
    expect(shown.plan).toMatchObject(plan);
  }
});

test("reading a journal back and forth gives the same states as reading it once", async () => {
  const { requestId, planId } = await submit();
  await failAs(running.store, planId as never);
  const { seq: last } = await now(requestId);
  const forth = [];
  for (let seq = 0; seq <= last; seq++) forth.push(await at(requestId, seq));
  const back = [];
  for (let seq = last; seq >= 0; seq--) back.unshift(await at(requestId, seq));
  expect(back).toEqual(forth);
  expect(forth.at(-1).plan.error).toMatchObject({ code: "TOOL_FAILED", remedy: expect.any(String) });
});

test("an earlier version is the current one until the next is stored", async () => {
  const { requestId, planId } = await submit();
  await failAs(running.store, planId as never);
  const { seq } = await now(requestId);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { version } }", { id: requestId });
  expect((await at(requestId, seq)).plan).toMatchObject({ planId, version: 1, status: "FAILED" });
  const next = await at(requestId, seq + 1);
  expect(next.plan).toMatchObject({ version: 2, status: "QUEUED", startedAt: null });
  expect(next.plan.planId).not.toBe(planId);
  expect(next.plan.steps).toMatchObject([
    { key: "createAuthor", status: "PENDING", waitReason: null },
    { key: "createBlog", status: "PENDING", waitReason: "dependency" },
  ]);
});

test("steps are filtered like those of a plan, with the items that were known then", async () => {
  const { requestId, planId } = await submit({
    steps: [
      {
        id: "each",
        forEach: {
          items: ["a", "b", "c"],
          as: "name",
          do: { tool: "createAuthor", arguments: { name: "<<name>>", email: "a@test.com" } },
        },
      },
    ],
  });
  const claim = await claimOnceDue(running.store, planId as never);
  const items = [0, 1, 2].map((item) => ({
    key: `each[${item}]`,
    stepId: "each",
    item,
    status: "COMPLETED" as const,
    attempts: 1,
    output: { _id: item },
  }));
  await writeCalled(running.store, claim, items);
  const keysOf = async (seq: number, filter: object) =>
    (await at(requestId, seq, filter)).plan.steps.map(({ key }: { key: string }) => key);
  const { seq } = await now(requestId);
  expect(await keysOf(seq, { items: true, status: ["COMPLETED"] })).toEqual(items.map(({ key }) => key));
  expect(await keysOf(seq, { items: false })).toEqual(["each"]);
  expect(await keysOf(seq - 1, { status: ["COMPLETED"] })).toEqual([]);
  expect(await keysOf(seq, { stepId: "nowhere" })).toEqual([]);
});

test("a step has its output and arguments of then, and a plan that has not ended has no outputs", async () => {
  const { requestId, planId } = await submit();
  await executeAs(running.store, planId as never);
  const values =
    "plan { outputs steps { key output resolvedArguments } stepsConnection(first: 1) { nodes { key status } totalCount } }";
  const read = async (seq: number | null) => {
    const query = `query ($id: ID!, $seq: Int) { request(requestId: $id, at: $seq) { seq ${values} } }`;
    return (await running.graphql(query, { id: requestId, seq })).body.data.request;
  };
  const last = await read(null);
  const [author, blog] = last.plan.steps;
  expect((await read(2)).plan).toEqual({
    outputs: null,
    steps: [author, { ...blog, output: null, resolvedArguments: null }],
    stepsConnection: { nodes: [{ key: "createAuthor", status: "COMPLETED" }], totalCount: 2 },
  });
  expect(await read(last.seq)).toEqual(last);
});

test("an entry below 0 is refused with a remedy, and an unknown request or one of another tenant is not found", async () => {
  const { requestId, planId } = await submit();
  await executeAs(running.store, planId as never);
  const ask = async (id: string, seq: number, headers: Record<string, string> = {}) =>
    (await running.graphql(AT, { id, seq }, headers)).body.errors;
  expect(await ask(requestId, -1)).toMatchObject([
    { extensions: { code: "BAD_USER_INPUT", argument: "at", remedy: expect.stringContaining("Give 0") } },
  ]);
  expect(await ask("req_1700000000_aaaaaaaaaaaaaaaaaaaa", 1)).toMatchObject([
    { extensions: { code: "NOT_FOUND" } },
  ]);
  const intruder = await bearer(running.store, ["admin"], { tenant: "intruder" });
  expect(await ask(requestId, 1, intruder)).toMatchObject([{ extensions: { code: "NOT_FOUND" } }]);
  expect(await running.store.readStateAt("intruder", requestId as never, 1)).toBeNull();
  expect(await running.store.readLastSeqs("intruder", [requestId as never])).toEqual([0]);
});
