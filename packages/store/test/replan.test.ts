import { type Plan, PlanSchema, type RequestId, type StepStatus } from "@planwright/plan";
import { createStore, LeaseLostError, type PlanningClaim, type Store } from "@planwright/store";
import { eventually, findDue, listSteps, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
const MODEL = { kind: "model", model: "openai:test" } as const;
const REFUSED = { code: "REPLAN_UNCHANGED", message: "the same again" };
const url = testServers().mongodbUrl;
let store: Store;

beforeAll(async () => {
  store = await createStore({ url });
});
afterAll(async () => {
  await store.close();
});

const FIRST = PlanSchema.parse({
  steps: [
    { id: "a", tool: "a", arguments: {} },
    { id: "b", tool: "b", arguments: { x: "<<a.x>>" } },
    { id: "list", forEach: { items: [1, 2, 3], do: { tool: "c" } } },
  ],
});
/** Step b has changed, and d is new and first. */
const SECOND = PlanSchema.parse({
  ...FIRST,
  steps: [
    { id: "d", tool: "d", arguments: {} },
    FIRST.steps[0],
    { id: "b", tool: "b", arguments: { x: "<<d.x>>" } },
    FIRST.steps[2],
  ],
});

interface PlanOptions {
  maxReplans?: number;
  wantsAnswer?: boolean;
}

async function planned(options: PlanOptions, plan: Plan = FIRST): Promise<RequestId> {
  const asked = { tenant: TENANT, query: "do it", autoExecute: true, ...options };
  const { _id } = await store.createRequest(asked);
  const claim = await claimed(_id);
  await store.completePlanning(claim, { plan, raw: null, origin: MODEL, diagnostics: [] });
  return _id;
}

/** Due times come from this process's estimate of the server's clock, which may be slightly ahead of it. */
async function claimed(requestId: RequestId): Promise<PlanningClaim> {
  return eventually(() => store.claimRequest(requestId, "planner"));
}

type End = "FAILED" | "PARTIAL" | "COMPLETED" | "CANCELLED";

/** Ends the current plan, with its units in these states. */
async function end(
  requestId: RequestId,
  status: End,
  units: Record<string, StepStatus> = {},
  acts = false,
): Promise<void> {
  const request = await store.getRequest(TENANT, requestId);
  const claim = (await store.claimPlan(request!.planId, "executor"))!;
  const records = Object.entries(units).map(([key, one]) => {
    const stepId = key.replace(/\[.*/, "");
    const output = one === "COMPLETED" ? { x: `${key} said` } : undefined;
    const item = /\[(\d+)\]$/.exec(key)?.[1];
    return {
      key,
      stepId,
      item: item === undefined ? undefined : Number(item),
      status: one,
      attempts: one === "SKIPPED" ? 0 : 1,
      output,
      ...(one === "SKIPPED" && { error: { code: "CONDITION_FALSE", message: "m", retryable: false } }),
    };
  });
  await playRecords(store, claim, records, acts);
  const error = status === "FAILED" ? { code: "TOOL_FAILED", message: "m", retryable: false } : undefined;
  await store.finishPlan(claim, { type: "finish", status, outputs: {}, error });
}

const requestOf = (requestId: RequestId) => store.getRequest(TENANT, requestId);
const HALF: Record<string, StepStatus> = {
  a: "COMPLETED",
  b: "FAILED",
  list: "FAILED",
  "list[0]": "COMPLETED",
  "list[1]": "FAILED",
};

/** The list completed with a failed item; one step reads its output, one only comes after it. */
const WITH_LIST = PlanSchema.parse({
  steps: [
    { id: "list", forEach: { items: [1, 2], errors: "collect", do: { tool: "c" } } },
    { id: "reads", tool: "a", arguments: { x: "<<list.summary>>" } },
    { id: "after", tool: "b", dependsOn: ["list"] },
  ],
});

test.each<[string, object, Record<string, StepStatus>]>([
  [
    "the same condition is carried over with its skipped items",
    { gt: ["<<item>>", 2] },
    {
      list: "COMPLETED",
      "list[0]": "SKIPPED",
      "list[1]": "SKIPPED",
      "list[2]": "COMPLETED",
      more: "PENDING",
    },
  ],
  [
    "another condition keeps its completed items and decides about the others",
    { gt: ["<<item>>", 1] },
    { list: "PENDING", "list[2]": "COMPLETED", more: "PENDING" },
  ],
])("of a replanned plan, a list with %s", async (_, when, expected) => {
  const withCondition = (condition: object) =>
    PlanSchema.parse({
      steps: [
        {
          id: "list",
          forEach: { items: [1, 2, 3], when: condition, do: { tool: "c", arguments: { x: "<<item>>" } } },
        },
        { id: "more", tool: "d" },
      ],
    });
  const requestId = await planned({ maxReplans: 1 }, withCondition({ gt: ["<<item>>", 2] }));
  const items = { "list[0]": "SKIPPED", "list[1]": "SKIPPED", "list[2]": "COMPLETED" } as const;
  await end(requestId, "PARTIAL", { list: "COMPLETED", more: "FAILED", ...items }, true);
  const claim = await claimed(requestId);
  const plan = withCondition(when);
  const stored = await store.completeReplan(claim, { plan, raw: null, origin: MODEL, diagnostics: [] });
  const units = await listSteps(store, TENANT, [stored._id]);
  expect(Object.fromEntries(units.map(({ key, status }) => [key, status]))).toEqual(expected);
});

test("a replan runs the failed items of a completed list again, and the steps that used its output", async () => {
  const requestId = await planned({ maxReplans: 1 }, WITH_LIST);
  const items = { "list[0]": "COMPLETED", "list[1]": "FAILED" } as const;
  await end(requestId, "PARTIAL", { list: "COMPLETED", reads: "COMPLETED", after: "COMPLETED", ...items });
  const claim = await claimed(requestId);
  const steps = [...WITH_LIST.steps, { id: "more", tool: "d" }];
  const plan = PlanSchema.parse({ ...WITH_LIST, steps });
  const result = { plan, raw: null, origin: MODEL, diagnostics: [] };
  const stored = await store.completeReplan(claim, result);
  const units = await listSteps(store, TENANT, [stored._id]);
  expect(Object.fromEntries(units.map(({ key, status }) => [key, status]))).toEqual({
    list: "PENDING",
    "list[0]": "COMPLETED",
    reads: "PENDING",
    after: "COMPLETED",
    more: "PENDING",
  });
});

test.each<[End, PlanOptions, "a planner" | "no planner", object]>([
  ["FAILED", {}, "no planner", { status: "FAILED" }],
  ["FAILED", { maxReplans: 1 }, "a planner", { status: "PLANNING", replans: { max: 1, made: 1 } }],
  ["PARTIAL", { maxReplans: 1 }, "a planner", { status: "PLANNING", planning: { work: "replan" } }],
  ["COMPLETED", { maxReplans: 1 }, "no planner", { status: "COMPLETED", replans: { max: 1, made: 0 } }],
  ["CANCELLED", { maxReplans: 1 }, "no planner", { status: "CANCELLED" }],
  ["COMPLETED", { wantsAnswer: true }, "a planner", { status: "COMPLETED", planning: { work: "answer" } }],
  ["PARTIAL", { wantsAnswer: true }, "a planner", { status: "PARTIAL", planning: { work: "answer" } }],
  ["FAILED", { wantsAnswer: true }, "no planner", { answerError: { code: "PLAN_NOT_COMPLETED" } }],
  ["FAILED", { wantsAnswer: true, maxReplans: 1 }, "a planner", { status: "PLANNING", answerError: null }],
])("a plan that ends %s with %o: its request waits for %s", async (status, options, waitsFor, expected) => {
  const requestId = await planned(options);
  await end(requestId, status);
  expect(await requestOf(requestId)).toMatchObject(expected);
  const isWaiting = async () => (await findDue(store.requestLeases, 1_000)).includes(requestId);
  await expect.poll(isWaiting).toBe(waitsFor === "a planner");
});

test("a replan carries over completed steps that are in both versions, and starts all others again", async () => {
  const requestId = await planned({ maxReplans: 1 });
  await end(requestId, "FAILED", HALF);
  const claim = await claimed(requestId);
  const record = (await store.readPlanRecord(claim))!;
  expect(record.plan._id).toBe(claim.request.planId);
  expect([...record.outputs]).toEqual([
    ["a", { x: "a said" }],
    ["list[0]", { x: "list[0] said" }],
  ]);
  const stored = await store.completeReplan(claim, {
    plan: SECOND,
    raw: "{}",
    origin: MODEL,
    diagnostics: [],
  });
  expect(stored).toMatchObject({ version: 2, status: "QUEUED", isFresh: false, raw: "{}" });
  const units = await listSteps(store, TENANT, [stored._id]);
  expect(units.map(({ key, status, position, carriedFrom }) => [key, status, position, carriedFrom])).toEqual(
    [
      ["d", "PENDING", 0, null],
      ["a", "COMPLETED", 1, record.plan._id],
      ["b", "PENDING", 2, null],
      ["list", "PENDING", 3, null],
      ["list[0]", "COMPLETED", 3, record.plan._id],
    ],
  );
  expect(await requestOf(requestId)).toMatchObject({
    status: "EXECUTING",
    planId: stored._id,
    version: 2,
    replan: null,
  });
  expect((await store.getPlan(TENANT, record.plan._id))?.status).toBe("FAILED");
});

test("a step that now needs approval is the same step: completed items are kept", async () => {
  const requestId = await planned({ maxReplans: 1 });
  await end(requestId, "FAILED", HALF);
  const steps = SECOND.steps.map((step) => (step.id === "list" ? { ...step, approval: true } : step));
  const result = { plan: { ...SECOND, steps }, raw: null, origin: MODEL, diagnostics: [] };
  const stored = await store.completeReplan(await claimed(requestId), result);
  const units = await listSteps(store, TENANT, [stored._id]);
  expect(units.filter(({ stepId }) => stepId === "list").map(({ key, status }) => [key, status])).toEqual([
    ["list", "PENDING"],
    ["list[0]", "COMPLETED"],
  ]);
});

test("the limit of replans is for all versions together", async () => {
  const requestId = await planned({ maxReplans: 1 });
  await end(requestId, "FAILED", HALF);
  const result = { plan: SECOND, raw: null, origin: MODEL, diagnostics: [] };
  await store.completeReplan(await claimed(requestId), result);
  await end(requestId, "FAILED", { b: "FAILED" });
  expect(await requestOf(requestId)).toMatchObject({ status: "FAILED", replans: { max: 1, made: 1 } });
});

test("a planner that lost its lease stores no version, and a replan is completed once", async () => {
  const requestId = await planned({ maxReplans: 1 });
  await end(requestId, "FAILED", HALF);
  const stale = await claimed(requestId);
  // Its owner is an unknown worker.
  await store.takeFromDead({ declaresSilent: false });
  const claim = await claimed(requestId);
  const result = { plan: SECOND, raw: null, origin: MODEL, diagnostics: [] };
  await expect(store.completeReplan(stale, result)).rejects.toThrow(LeaseLostError);
  await expect(store.failReplan(stale, { error: REFUSED, diagnostics: [] })).rejects.toThrow(LeaseLostError);
  const tries = await Promise.allSettled([1, 2, 3].map(() => store.completeReplan(claim, result)));
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await store.listPlanHeadsOf(TENANT, [requestId])).toHaveLength(2);
});

test("a replan that fails gives the request the status of its plan's end, with the error", async () => {
  const requestId = await planned({ maxReplans: 2 });
  await end(requestId, "PARTIAL", HALF);
  await store.failReplan(await claimed(requestId), { error: REFUSED, diagnostics: [] });
  expect(await requestOf(requestId)).toMatchObject({ status: "PARTIAL", error: REFUSED, version: 1 });
  expect(await store.claimRequest(requestId, "another")).toBeNull();
  const rerun = await store.rerunPlan(TENANT, requestId, { from: null, autoExecute: true });
  expect(rerun).toMatchObject({ type: "rerun", request: { error: null } });
});

test("an answer is written for a partial plan whose replan fails", async () => {
  const requestId = await planned({ maxReplans: 1, wantsAnswer: true });
  await end(requestId, "PARTIAL", HALF);
  await store.failReplan(await claimed(requestId), { error: REFUSED, diagnostics: [] });
  const claim = await claimed(requestId);
  expect(claim.request).toMatchObject({ status: "PARTIAL", planning: { work: "answer" }, error: REFUSED });
});

test("an answer does not change the status, and is stored once", async () => {
  const requestId = await planned({ wantsAnswer: true });
  await end(requestId, "COMPLETED", { a: "COMPLETED", b: "COMPLETED", list: "COMPLETED" });
  const claim = await claimed(requestId);
  expect(await store.requestLeases.findHeld("planner")).toContainEqual({ id: requestId, epoch: claim.epoch });
  await store.completeAnswer(claim, "All done.");
  expect(await requestOf(requestId)).toMatchObject({ status: "COMPLETED", answer: "All done." });
  await expect(store.failAnswer(claim, REFUSED)).rejects.toThrow(LeaseLostError);
  expect(await store.claimRequest(requestId, "another")).toBeNull();
});

test("a rerun ends the lease of the planner that writes the answer", async () => {
  const requestId = await planned({ wantsAnswer: true });
  await end(requestId, "COMPLETED", { a: "COMPLETED", b: "COMPLETED", list: "COMPLETED" });
  const claim = await claimed(requestId);
  await store.rerunPlan(TENANT, requestId, { from: "a", autoExecute: true });
  await expect(store.completeAnswer(claim, "late")).rejects.toThrow(LeaseLostError);
  expect(await requestOf(requestId)).toMatchObject({ status: "EXECUTING", answer: null });
  await end(requestId, "COMPLETED", { a: "COMPLETED", b: "COMPLETED" });
  expect(await requestOf(requestId)).toMatchObject({ planning: { work: "answer" } });
});

test("an answer that kills all its planners is stopped, and the results are kept", async () => {
  const requestId = await planned({ wantsAnswer: true });
  await end(requestId, "COMPLETED");
  const tryAgain = async () => {
    await store.claimRequest(requestId, "doomed");
    await store.takeFromDead({ declaresSilent: false });
    return (await requestOf(requestId))?.answerError?.code;
  };
  await expect.poll(tryAgain, { interval: 5 }).toBe("POISONED");
  expect(await requestOf(requestId)).toMatchObject({ status: "COMPLETED" });
});

test("a client asks for a replan of a plan that has ended, with a note", async () => {
  const requestId = await planned({});
  const options = { note: "use the other one", execute: false };
  expect(await store.requestReplan(TENANT, requestId, options)).toMatchObject({ type: "not ended" });
  await end(requestId, "FAILED", HALF);
  expect(await store.requestReplan("t2", requestId, options)).toEqual({ type: "unknown" });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => store.requestReplan(TENANT, requestId, options)),
  );
  expect(answers.map(({ type }) => type).toSorted()).toEqual([...Array(4).fill("no plan"), "replanning"]);
  expect(await store.rerunPlan(TENANT, requestId, { from: null, autoExecute: true })).toMatchObject({
    type: "no plan",
  });
  const claim = await claimed(requestId);
  expect(claim.request).toMatchObject({ status: "PLANNING", replan: options, replans: { max: 0, made: 1 } });
  const result = { plan: SECOND, raw: null, origin: MODEL, diagnostics: [] };
  expect(await store.completeReplan(claim, result)).toMatchObject({ status: "READY", version: 2 });
  expect(await requestOf(requestId)).toMatchObject({ status: "READY" });
});

test("a plan with steps in doubt is not replanned before an operator settles them", async () => {
  const requestId = await planned({});
  await end(requestId, "CANCELLED", { a: "COMPLETED", b: "IN_DOUBT", list: "CANCELLED" });
  const options = { note: null, execute: true };
  expect(await store.requestReplan(TENANT, requestId, options)).toEqual({ type: "in doubt", keys: ["b"] });
  const { planId } = (await requestOf(requestId))!;
  await store.resolveUnits(TENANT, planId, {
    by: "operator",
    decisions: [{ key: "b", resolution: { type: "retry" } }],
  });
  expect(await store.requestReplan(TENANT, requestId, options)).toMatchObject({ type: "replanning" });
});

test("a completed plan is not replanned, and a request has at most 20 replans", async () => {
  const done = await planned({});
  await end(done, "COMPLETED");
  const options = { note: null, execute: true };
  expect(await store.requestReplan(TENANT, done, options)).toEqual({ type: "nothing failed" });
  const failed = await planned({});
  await end(failed, "FAILED", HALF);
  for (let made = 1; made <= 20; made += 1) {
    expect(await store.requestReplan(TENANT, failed, options)).toMatchObject({ type: "replanning" });
    await store.failReplan(await claimed(failed), { error: REFUSED, diagnostics: [] });
  }
  expect(await store.requestReplan(TENANT, failed, options)).toEqual({ type: "too many", made: 20 });
});

test("a cancelled replan stores nothing, and its request can be rerun", async () => {
  const requestId = await planned({ maxReplans: 1, wantsAnswer: true });
  expect(await store.cancelPlanning(TENANT, requestId)).toBeNull();
  await end(requestId, "FAILED", HALF);
  const claim = await claimed(requestId);
  expect(await store.cancelPlanning("t2", requestId)).toBeNull();
  expect(await store.cancelPlanning(TENANT, requestId)).toMatchObject({
    status: "CANCELLED",
    answerError: { code: "PLAN_NOT_COMPLETED" },
  });
  const result = { plan: SECOND, raw: null, origin: MODEL, diagnostics: [] };
  await expect(store.completeReplan(claim, result)).rejects.toThrow(LeaseLostError);
  expect(await store.claimRequest(requestId, "another")).toBeNull();
  const rerun = await store.rerunPlan(TENANT, requestId, { from: null, autoExecute: true });
  expect(rerun).toMatchObject({ type: "rerun", request: { answerError: null } });
});
