import { type JsonValue, type Plan, parsePlan } from "@planwright/plan";
import {
  createStore,
  type PlanClaim,
  type Store,
  type UnitDecision,
  type UnitDecisions,
} from "@planwright/store";
import { findDue, listSteps, testServers } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

const decided = (...decisions: UnitDecision[]): UnitDecisions => ({ by: "operator", decisions });
const completed = (output: object | string) =>
  decided({ key: "a", resolution: { type: "completed", output: Object(output) } });
const settledAs = (key: string, output: JsonValue): UnitDecision => {
  return { key, resolution: { type: "completed", output } };
};
const failed = decided({
  key: "a",
  resolution: { type: "failed", error: { code: "TOOL_FAILED", message: "no", retryable: false } },
});
const retry = (more: Partial<UnitDecision> = {}) =>
  decided({ key: "a", resolution: { type: "retry" }, ...more });

function planOf(keys: readonly string[]): Plan {
  const parsed = parsePlan(keys.map((key) => ({ id: key, tool: "a", arguments: {} })));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** A plan whose unit "a" is in doubt after one attempt, or whose units are. */
async function inDoubt(keys: readonly string[] = ["a"]): Promise<PlanClaim> {
  const { plan } = await store.submitPlan({
    tenant: "t1",
    query: null,
    plan: planOf(keys),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  const claim = (await store.claimPlan(plan._id, "e1"))!;
  const calls = keys.map((key) => ({
    key,
    stepId: key,
    attempt: 1,
    tool: "a",
    arguments: {},
    effectClass: "U" as const,
    mayAct: true,
    timeoutMs: 1_000,
  }));
  await store.writeIntents(
    claim,
    calls.map((call) => ({ call, attemptId: `try ${call.key}`, argsHash: "h" })),
  );
  const error = { code: "EXECUTOR_LOST", message: "lost", retryable: false };
  await store.writeRecords(
    claim,
    keys.map((key) => ({
      key,
      stepId: key,
      status: "IN_DOUBT" as const,
      attempts: 1,
      error,
      waitReason: "in doubt" as const,
    })),
    [],
  );
  return claim;
}

async function endedInDoubt(keys?: readonly string[]): Promise<string> {
  const claim = await inDoubt(keys);
  await store.finishPlan(claim, { type: "finish", status: "CANCELLED", outputs: {} });
  return claim.plan._id;
}

const unitOf = async (planId: string) => (await listSteps(store, "t1", [planId]))[0];

describe("while the plan runs, a decision", () => {
  test("is recorded for the executor, only for the attempt in doubt, and makes the plan due", async () => {
    const claim = await inDoubt();
    const planId = claim.plan._id;
    await store.releasePlan(claim, { status: "WAITING", reason: "in doubt", dueAtMs: null });
    const output = { $where: "1", "a.b": "$status" };
    expect(await store.resolveUnits("t1", planId, completed(output))).toMatchObject({ type: "recorded" });
    expect((await store.getPlanHeads("t1", [planId]))[0]?.resolutions).toMatchObject([
      {
        key: "a",
        attempt: 1,
        resolution: { type: "completed", output },
        by: "operator",
        at: expect.any(Date),
      },
    ]);
    await expect.poll(() => findDue(store.planLeases, 10)).toContain(planId);
    expect(await unitOf(planId)).toMatchObject({ status: "IN_DOUBT" });
  });

  test("after the first one is refused", async () => {
    const { plan } = await inDoubt();
    const answers = await Promise.all(
      [retry(), failed, retry()].map((decision) => store.resolveUnits("t1", plan._id, decision)),
    );
    expect(answers.map(({ type }) => type).toSorted()).toEqual(["decided", "decided", "recorded"]);
  });

  test("is refused while the values of earlier ones take the room of the plan's document", async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `s${index}`);
    const claim = await inDoubt(keys);
    const planId = claim.plan._id;
    // As BSON a number takes up to six times its place in JSON.
    const output = Array.from({ length: 16_383 }, () => 0);
    const settle = (from: number, to: number) =>
      store.resolveUnits("t1", planId, decided(...keys.slice(from, to).map((key) => settledAs(key, output))));
    expect(await settle(0, 30)).toMatchObject({ type: "recorded" });
    await expect(Promise.all([settle(30, 65), settle(65, 100)])).rejects.toMatchObject({
      code: "TOO_MANY_CONTROLS",
      retryable: true,
    });
    expect(await store.requestCancel("t1", planId, "operator")).toMatchObject({
      cancelRequestedAt: expect.any(Date),
    });
  });

  test("on an attempt that is no longer in doubt is refused", async () => {
    const { plan } = await inDoubt();
    expect(await store.resolveUnits("t1", plan._id, retry({ attempt: 2 }))).toMatchObject({
      type: "not in doubt",
      unit: { status: "IN_DOUBT" },
    });
  });
});

describe("in a plan that has ended, a unit", () => {
  test.each([
    ["completed", completed({ n: 1 }), { status: "COMPLETED", output: { n: 1 }, error: null }],
    ["failed", failed, { status: "FAILED", error: { message: "no" } }],
    ["retry", retry(), { status: "FAILED", error: { code: "SETTLED_AS_NOT_DONE", retryable: true } }],
  ] as const)("gets its last state: %s", async (resolution, decision, state) => {
    const planId = await endedInDoubt();
    expect(await store.resolveUnits("t1", planId, decision)).toMatchObject({ type: "recorded" });
    expect(await unitOf(planId)).toMatchObject({
      ...state,
      finishedAt: expect.any(Date),
      waitReason: null,
      resolvedBy: { by: "operator", resolution },
    });
    expect(await store.getPlan("t1", planId)).toMatchObject({ status: "CANCELLED", controlSeq: 0 });
    expect(await store.resolveUnits("t1", planId, decision)).toMatchObject({ type: "not in doubt" });
  });

  test("gets its last state once", async () => {
    const planId = await endedInDoubt();
    const decisions = [completed({ n: 1 }), failed, completed({ n: 2 })];
    const answers = await Promise.all(
      decisions.map((decision) => store.resolveUnits("t1", planId, decision)),
    );
    expect(answers.filter(({ type }) => type === "recorded")).toHaveLength(1);
  });
});

test.each([
  ["over 32 KiB", { text: "x".repeat(40_000) }],
  ["with a key that BSON cannot store", { "a\0b": 1 }],
])("an output %s is refused", async (_, output) => {
  const { plan } = await inDoubt();
  expect(await store.resolveUnits("t1", plan._id, completed(output))).toEqual({
    type: "too large",
    key: "a",
  });
});

test("a unit that is unknown, of another tenant, or not in doubt is refused", async () => {
  const { plan } = await inDoubt();
  expect(await store.resolveUnits("t2", plan._id, retry())).toEqual({ type: "unknown" });
  expect(await store.resolveUnits("t1", plan._id, retry({ key: "b" }))).toEqual({
    type: "unknown",
    key: "b",
  });
  const fresh = await store.submitPlan({
    tenant: "t1",
    query: null,
    plan: planOf(["a"]),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  expect(await store.resolveUnits("t1", fresh.plan._id, retry())).toMatchObject({ type: "not in doubt" });
});

describe("decisions that come together", () => {
  const both = decided(...["a", "b"].map((key) => ({ key, resolution: { type: "retry" as const } })));

  test("are controls with numbers of their own, in one change of the plan", async () => {
    const { plan } = await inDoubt(["a", "b"]);
    expect(await store.resolveUnits("t1", plan._id, both)).toMatchObject({ type: "recorded" });
    const { controls, controlSeq } = (await store.getPlan("t1", plan._id))!;
    expect(controlSeq).toBe(2);
    expect(controls).toMatchObject([
      { id: 1, event: { key: "a" } },
      { id: 2, event: { key: "b" } },
    ]);
  });

  test("are all refused when one of them is, which is named", async () => {
    const { plan } = await inDoubt(["a", "b"]);
    await store.resolveUnits("t1", plan._id, retry({ key: "b" }));
    expect(await store.resolveUnits("t1", plan._id, both)).toMatchObject({
      type: "decided",
      unit: { key: "b" },
    });
    expect(await store.getPlan("t1", plan._id)).toMatchObject({ controlSeq: 1 });
  });

  test("end the units of a plan that has ended in one entry", async () => {
    const planId = await endedInDoubt(["a", "b"]);
    expect(await store.resolveUnits("t1", planId, both)).toMatchObject({ type: "recorded" });
    const steps = await listSteps(store, "t1", [planId]);
    expect(steps.map(({ status }) => status)).toEqual(["FAILED", "FAILED"]);
  });
});
