import { type Plan, parsePlan, type StepStatus } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { listSteps, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

function onePlan(): Plan {
  const parsed = parsePlan([
    { id: "a", tool: "a", arguments: {} },
    { id: "b", tool: "b", arguments: { x: "<<a.x>>" } },
    { id: "c", tool: "c", arguments: {} },
  ]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

type Statuses = Record<"a" | "b" | "c", StepStatus>;

/** Submits a plan and ends it, with its steps in these states. */
async function endedPlan(statuses: Statuses, status: "FAILED" | "COMPLETED" | "CANCELLED" = "FAILED") {
  const { request, plan } = await store.submitPlan({
    tenant: "t1",
    query: "do it",
    plan: onePlan(),
    raw: "raw",
    diagnostics: [],
    autoExecute: true,
  });
  const claim = (await store.claimPlan(plan._id, "e1"))!;
  const records = Object.entries(statuses).map(([key, one]) => {
    const output = one === "COMPLETED" ? { x: `${key} said`, text: "y".repeat(40_000) } : undefined;
    return { key, stepId: key, status: one, attempts: 1, output };
  });
  await playRecords(store, claim, records);
  await store.finishPlan(claim, { type: "finish", status, outputs: {} });
  return { requestId: request._id, planId: plan._id };
}

const FAILED: Statuses = { a: "COMPLETED", b: "FAILED", c: "SKIPPED" };
const statusesOf = async (planId: string) =>
  Object.fromEntries((await listSteps(store, "t1", [planId])).map(({ key, status }) => [key, status]));

test("a rerun is a new version that carries over completed steps, and the old one is not changed", async () => {
  const { requestId, planId } = await endedPlan(FAILED);
  const before = await store.getPlan("t1", planId);
  const answer = await store.rerunPlan("t1", requestId, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect(answer.plan).toMatchObject({ version: 2, status: "QUEUED", isFresh: false, epoch: 1, raw: "raw" });
  expect(answer.plan._id).not.toBe(planId);
  expect(await store.getRequest("t1", requestId)).toEqual(answer.request);
  expect(answer.request).toMatchObject({ planId: answer.plan._id, version: 2, status: "EXECUTING" });
  expect(await store.getPlan("t1", planId)).toEqual(before);
  expect(await statusesOf(planId)).toEqual(FAILED);
  expect(await statusesOf(answer.plan._id)).toEqual({ a: "COMPLETED", b: "PENDING", c: "PENDING" });
  expect((await store.listPlanHeadsOf("t1", [requestId])).map(({ version }) => version)).toEqual([2, 1]);
});

test("an executor that claims the new version reads the carried outputs, also large ones", async () => {
  const { planId, requestId } = await endedPlan(FAILED);
  const answer = await store.rerunPlan("t1", requestId, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  const claim = (await store.claimPlan(answer.plan._id, "e2"))!;
  expect(claim.records.find(({ key }) => key === "a")).toMatchObject({
    status: "COMPLETED",
    carriedFrom: { planId, key: "a" },
    outputBytes: 40_024,
  });
  expect(await store.readStoredOutputs(claim, ["a"])).toEqual([
    { key: "a", output: { x: "a said", text: "y".repeat(40_000) } },
  ]);
  expect(claim.records.map(({ key }) => key)).toEqual(["a"]);
});

test("from a step, that step and its dependents run again", async () => {
  const { requestId } = await endedPlan({ a: "COMPLETED", b: "COMPLETED", c: "COMPLETED" }, "COMPLETED");
  const answer = await store.rerunPlan("t1", requestId, { from: "a", autoExecute: false });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect(await statusesOf(answer.plan._id)).toEqual({ a: "PENDING", b: "PENDING", c: "COMPLETED" });
  expect(answer).toMatchObject({
    plan: { status: "READY" },
    request: { status: "READY", autoExecute: false },
  });
  expect(await store.queuePlan("t1", answer.plan._id, requestId)).toMatchObject({ status: "QUEUED" });
});

test("simultaneous reruns make one version", async () => {
  const { requestId } = await endedPlan(FAILED);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => store.rerunPlan("t1", requestId, { from: null, autoExecute: true })),
  );
  expect(answers.map(({ type }) => type).toSorted()).toEqual([...Array(9).fill("not ended"), "rerun"]);
  expect(await store.listPlanHeadsOf("t1", [requestId])).toHaveLength(2);
});

test.each(["answered", "not answered"])(
  "a rerun of a call whose first answer was lost and whose second was %s uses the same key",
  async (end) => {
    const { request, plan } = await store.submitPlan({
      tenant: "t1",
      query: null,
      plan: onePlan(),
      raw: "",
      diagnostics: [],
      autoExecute: true,
    });
    const claim = (await store.claimPlan(plan._id, "e1"))!;
    const call = {
      key: "a",
      stepId: "a",
      tool: "a",
      arguments: {},
      effectClass: "K" as const,
      mayAct: true,
      timeoutMs: 1_000,
    };
    const intentOf = (attempt: number) => ({
      call: { ...call, attempt },
      attemptId: `try ${attempt}`,
      argsHash: "h",
    });
    // The executor of the first attempt died: its end is not written.
    for (const attempt of [1, 2]) await store.writeIntents(claim, [intentOf(attempt)]);
    const [unit] = await listSteps(store, "t1", [plan._id]);
    expect(unit).toMatchObject({ key: "a", status: "RUNNING", mayHaveActed: true });
    const error = { code: "TOOL_FAILED", message: "no", retryable: false };
    const isAnswered = end === "answered";
    const status = isAnswered ? ("FAILED" as const) : ("IN_DOUBT" as const);
    const mayHaveActed = isAnswered ? undefined : true;
    const ended = { attemptId: "try 2", endedAtMs: 0, durationMs: 1, error };
    await store.writeRecords(
      claim,
      [{ key: "a", stepId: "a", status, attempts: 2, error, mayHaveActed }],
      [{ ...ended, key: "a", outcome: isAnswered ? "failed" : "unknown" }],
    );
    await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
    const answer = await store.rerunPlan("t1", request._id, { from: null, autoExecute: false });
    if (answer.type !== "rerun") throw new TypeError(answer.type);
    const [again] = await listSteps(store, "t1", [answer.plan._id]);
    const sameKey = { key: "a", planId: plan._id, argsHash: "h", ...(isAnswered && { isAnswered }) };
    expect(again?.unanswered).toEqual([sameKey]);
  },
);

test("steps in doubt refuse a rerun until an operator settles them", async () => {
  const { requestId, planId } = await endedPlan(
    { a: "COMPLETED", b: "IN_DOUBT", c: "CANCELLED" },
    "CANCELLED",
  );
  const rerun = () => store.rerunPlan("t1", requestId, { from: null, autoExecute: true });
  expect(await rerun()).toEqual({ type: "in doubt", keys: ["b"] });
  await store.resolveUnits("t1", planId, {
    by: "operator",
    decisions: [{ key: "b", resolution: { type: "retry" } }],
  });
  const answer = await rerun();
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect(await statusesOf(answer.plan._id)).toEqual({ a: "COMPLETED", b: "PENDING", c: "PENDING" });
});

test("a completed plan, an unknown step, an unknown request and a request in planning are not rerun", async () => {
  const done = await endedPlan({ a: "COMPLETED", b: "COMPLETED", c: "COMPLETED" }, "COMPLETED");
  const options = { from: null, autoExecute: true };
  expect(await store.rerunPlan("t1", done.requestId, options)).toEqual({ type: "nothing failed" });
  expect(await store.rerunPlan("t1", done.requestId, { ...options, from: "z" })).toEqual({
    type: "unknown step",
    stepId: "z",
  });
  expect(await store.rerunPlan("t2", done.requestId, options)).toEqual({ type: "unknown" });
  const asked = await store.createRequest({ tenant: "t1", query: "later", autoExecute: true });
  expect(await store.rerunPlan("t1", asked._id, options)).toMatchObject({ type: "no plan" });
});

test("the end of the old version does not change the request any more", async () => {
  const { requestId, planId } = await endedPlan(FAILED);
  await store.rerunPlan("t1", requestId, { from: null, autoExecute: true });
  const request = await store.getRequest("t1", requestId);
  expect(request?.planId).not.toBe(planId);
  expect(await store.reconcileRequests()).toBe(0);
  expect(await store.getRequest("t1", requestId)).toMatchObject({ status: "EXECUTING" });
});

test("carried items after an item that was not carried are listed before their list runs, and are carried over again", async () => {
  const parsed = parsePlan([
    { id: "a", tool: "a", arguments: {} },
    { id: "each", dependsOn: ["a"], forEach: { items: [0, 1, 2], do: { tool: "t", arguments: {} } } },
  ]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const submitted = { tenant: "t1", query: "do it", plan: parsed.plan, raw: "raw", diagnostics: [] };
  const { request, plan } = await store.submitPlan({ ...submitted, autoExecute: true });
  const claim = (await store.claimPlan(plan._id, "e1"))!;
  const item = (index: number, status: StepStatus) => {
    const output = status === "COMPLETED" ? { effect: index } : undefined;
    return { key: `each[${index}]`, stepId: "each", item: index, status, attempts: 1, output };
  };
  await playRecords(store, claim, [item(0, "COMPLETED"), item(1, "FAILED"), item(2, "COMPLETED")]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });

  const second = await store.rerunPlan("t1", request._id, { from: null, autoExecute: true, by: "Olga" });
  if (second.type !== "rerun") throw new TypeError(second.type);
  const events = (await store.listEventPages("t1", [request._id], { first: 100 })).get(request._id)?.items;
  expect(events?.filter(({ event }) => event.type === "plan.stored")).toMatchObject([
    { by: { kind: "api", id: "Olga" } },
  ]);
  const carried = { a: "PENDING", each: "PENDING", "each[0]": "COMPLETED", "each[2]": "COMPLETED" };
  expect(await statusesOf(second.plan._id)).toEqual(carried);
  const next = (await store.claimPlan(second.plan._id, "e1"))!;
  await store.finishPlan(next, { type: "finish", status: "FAILED", outputs: {} });

  const third = await store.rerunPlan("t1", request._id, { from: null, autoExecute: true });
  if (third.type !== "rerun") throw new TypeError(third.type);
  expect(await statusesOf(third.plan._id)).toEqual(carried);
});
