/** Amendments: a plan is replaced by another one, in every store. */

import { type JsonObject, type Plan, parsePlan, type RequestId } from "@planwright/plan";
import { IdempotencyKeyReusedError, type PlanDocument, type UnitRecord } from "@planwright/store";
import { listSteps } from "@planwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

type AnyStore = OpenStore["store"];

function planOf(...steps: JsonObject[]): Plan {
  const parsed = parsePlan(steps.map((step) => ({ tool: String(step["id"]), arguments: {}, ...step })));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const FIRST = planOf({ id: "a" }, { id: "b", arguments: { to: "<<a.to>>" } }, { id: "c" });
const amended = (plan: Plan, more: object = {}) => ({
  plan,
  raw: "{}",
  diagnostics: [],
  autoExecute: true,
  ...more,
});

async function submit(store: AnyStore, plan: Plan | null, autoExecute: boolean): Promise<PlanDocument> {
  const diagnostics = plan
    ? []
    : [{ severity: "error" as const, code: "PLAN_SHAPE", message: "no", path: "" }];
  const asked = { tenant: "t1", query: "do it", plan, raw: "", diagnostics, autoExecute };
  return (await store.submitPlan(asked as Parameters<AnyStore["submitPlan"]>[0])).plan;
}

/** Runs a plan to its end, with these records. */
async function run(store: AnyStore, { _id }: PlanDocument, records: readonly Partial<UnitRecord>[]) {
  const claim = (await store.claimPlan(_id, "e1"))!;
  const completeRecords = records.map(
    (record) => ({ stepId: record.key, attempts: 1, ...record }) as UnitRecord,
  );
  await playRecords(store, claim, completeRecords);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
}

const HALF = [
  { key: "a", status: "COMPLETED" as const, output: { to: "x" } },
  { key: "b", status: "COMPLETED" as const, output: 1 },
  { key: "c", status: "FAILED" as const },
];

describe.each(STORES)("with $name", ({ open }) => {
  /** Of the store that was opened last. */
  let plansOf: OpenStore["plansOf"];

  async function opened(): Promise<AnyStore> {
    const { store, plansOf: plans, close } = await open();
    plansOf = plans;
    onTestFinished(close);
    return store;
  }

  /** A request whose step `c` failed. */
  async function failed(store: AnyStore): Promise<RequestId> {
    const plan = await submit(store, FIRST, true);
    await run(store, plan, HALF);
    return plan.requestId;
  }

  const versionsOf = async (id: RequestId) =>
    (await plansOf(id)).map(({ version, status }) => [version, status]);

  test("replaces a plan that was not started, which is SUPERSEDED and never runs", async () => {
    const store = await opened();
    const first = await submit(store, FIRST, false);
    const answer = await store.amendPlan("t1", first.requestId, amended(planOf({ id: "z" })));
    expect(answer).toMatchObject({ type: "amended", carried: [], repeated: [], notRepeated: [] });
    expect(await versionsOf(first.requestId)).toEqual([
      [2, "QUEUED"],
      [1, "SUPERSEDED"],
    ]);
    expect(await store.queuePlan("t1", first._id, first.requestId)).toMatchObject({ status: "SUPERSEDED" });
    expect(await store.claimPlan(first._id, "e1")).toBeNull();
    expect(await store.getRequest("t1", first.requestId)).toMatchObject({ status: "EXECUTING", version: 2 });
    const state = await store.readStateAt("t1", first.requestId, 1);
    expect(state?.plan).toMatchObject({ version: 2, status: "QUEUED" });
  });

  test("of an ended plan keeps completed steps, and runs changed steps again", async () => {
    const store = await opened();
    const id = await failed(store);
    const next = planOf(
      { id: "a" },
      { id: "b", arguments: { to: "<<a.to>>" } },
      { id: "c", arguments: { now: 1 } },
    );
    const answer = await store.amendPlan("t1", id, amended(next));
    expect(answer).toMatchObject({
      type: "amended",
      carried: ["a", "b"],
      notRepeated: ["a", "b"],
      repeated: [],
    });
    if (answer.type !== "amended") return;
    expect(await versionsOf(id)).toEqual([
      [2, "QUEUED"],
      [1, "FAILED"],
    ]);
    const claim = (await store.claimPlan(answer.plan._id, "e2"))!;
    expect(claim.records.map(({ key, status }) => [key, status])).toEqual([
      ["a", "COMPLETED"],
      ["b", "COMPLETED"],
    ]);
    const steps = await listSteps(store, "t1", [answer.plan._id]);
    expect(steps.map(({ key, status, carriedFrom }) => [key, status, carriedFrom !== null])).toEqual([
      ["a", "COMPLETED", true],
      ["b", "COMPLETED", true],
      ["c", "PENDING", false],
    ]);
  });

  const READ = { id: "a", arguments: { of: 1 } };
  const USES = { id: "b", arguments: { to: "<<a.to>>" } };
  test.each<[string, JsonObject[], string[], string[]]>([
    ["another time limit", [{ ...READ, timeoutMs: 5_000 }, USES], ["a", "b"], []],
    ["other retries", [{ ...READ, retry: { maxAttempts: 2 }, onError: "fail-fast" }, USES], ["a", "b"], []],
    [
      "another id",
      [
        { ...READ, id: "z", tool: "a" },
        { ...USES, arguments: { to: "<<z.to>>" } },
      ],
      ["z", "b"],
      [],
    ],
    ["another id beside its own", [READ, { ...READ, id: "z", tool: "a" }, USES], ["a", "b"], []],
    ["after a completed step", [{ id: "p" }, { ...READ, dependsOn: ["p"] }, USES], ["p", "a", "b"], []],
    ["after a new step", [{ id: "n" }, { ...READ, dependsOn: ["n"] }, USES], [], ["a", "b"]],
    ["under a condition", [{ ...READ, when: { eq: [1, 1] } }, USES], [], ["a", "b"]],
    ["with other arguments", [{ ...READ, arguments: { of: 2 } }, USES], [], ["b"]],
    ["of another tool", [{ ...READ, tool: "other" }, USES], [], ["b"]],
  ])("keeps a completed step only if its call is the same: %s", async (_, steps, carried, asked) => {
    const store = await opened();
    const first = await submit(store, planOf({ id: "p" }, READ, USES), true);
    await run(store, first, [{ key: "p", status: "COMPLETED", output: 0 }, ...HALF.slice(0, 2)]);
    const answer = await store.amendPlan("t1", first.requestId, amended(planOf(...steps)));
    expect(answer).toMatchObject({ type: "amended", carried });
    if (answer.type !== "amended") return;
    const approvals = answer.plan.plan?.steps.filter(({ approval }) => approval);
    expect(approvals?.map(({ id }) => id)).toEqual(asked);
  });

  test("asks for approval of a step that is repeated only because an earlier step has changed", async () => {
    const store = await opened();
    const id = await failed(store);
    const next = planOf({ id: "a", arguments: { who: "Zoe" } }, { id: "b", arguments: { to: "<<a.to>>" } });
    const answer = await store.amendPlan("t1", id, amended(next));
    expect(answer).toMatchObject({ type: "amended", carried: [], repeated: ["a", "b"], notRepeated: [] });
    if (answer.type !== "amended") return;
    expect(answer.plan.plan?.steps.map(({ id: step, approval }) => [step, approval ?? false])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  test("replaces a plan that could not be read", async () => {
    const store = await opened();
    const { requestId } = await submit(store, null, true);
    expect(await store.amendPlan("t1", requestId, amended(FIRST))).toMatchObject({ type: "amended" });
    expect(await versionsOf(requestId)).toEqual([
      [2, "QUEUED"],
      [1, "INVALID"],
    ]);
  });

  test("is refused while the plan runs, for another version, and in doubt", async () => {
    const store = await opened();
    const running = await submit(store, FIRST, true);
    expect(await store.amendPlan("t1", running.requestId, amended(FIRST))).toMatchObject({
      type: "not ended",
    });
    expect(await store.amendPlan("t1", running.requestId, amended(FIRST, { fromVersion: 2 }))).toMatchObject({
      type: "other version",
    });
    expect(await store.amendPlan("t2", running.requestId, amended(FIRST))).toEqual({ type: "unknown" });
    await run(store, running, [{ key: "a", status: "IN_DOUBT" }]);
    expect(await store.amendPlan("t1", running.requestId, amended(planOf({ id: "z" })))).toEqual({
      type: "in doubt",
      keys: ["a"],
    });
    const asked = await store.createRequest({ tenant: "t1", query: "do", autoExecute: false });
    expect(await store.amendPlan("t1", asked._id, amended(FIRST))).toMatchObject({ type: "no plan" });
    expect((await plansOf(running.requestId)).length).toBe(1);
  });

  test("does not change the arguments of a call that may have acted under a key", async () => {
    const store = await opened();
    const first = await submit(store, planOf({ id: "a" }), true);
    const claim = (await store.claimPlan(first._id, "e1"))!;
    const call = {
      key: "a",
      stepId: "a",
      tool: "a",
      arguments: {},
      attempt: 1,
      timeoutMs: 1_000,
      effectClass: "K" as const,
      mayAct: true,
    };
    const intent = { call, attemptId: "t1", argsHash: "h1" } as Parameters<
      AnyStore["writeIntents"]
    >[1][number];
    await store.writeIntents(claim, [intent]);
    const error = { code: "TOOL_TIMEOUT", message: "no answer", retryable: true };
    const end = {
      key: "a",
      attemptId: "t1",
      endedAtMs: store.now(),
      durationMs: 1,
      outcome: "unknown" as const,
      error,
    };
    const record = {
      key: "a",
      stepId: "a",
      status: "FAILED" as const,
      attempts: 1,
      error,
      mayHaveActed: true,
    };
    await store.writeRecords(claim, [record], [end]);
    await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
    const other = amended(planOf({ id: "a", arguments: { now: 1 } }));
    expect(await store.amendPlan("t1", first.requestId, other)).toEqual({
      type: "may have acted",
      keys: ["a"],
    });
    const same = amended(planOf({ id: "a" }, { id: "b" }));
    expect(await store.amendPlan("t1", first.requestId, same)).toMatchObject({ type: "amended" });
    const [again] = await listSteps(store, "t1", [(await plansOf(first.requestId))[0]!._id]);
    expect(again?.unanswered).toMatchObject([{ key: "a", planId: first._id }]);
  });

  test("of simultaneous calls makes one version, and none if the plan was started first", async () => {
    const store = await opened();
    const first = await submit(store, FIRST, false);
    const amendments = Array.from({ length: 8 }, () =>
      store.amendPlan("t1", first.requestId, amended(planOf({ id: "z" }), { fromVersion: 1 })),
    );
    const starting = store.queuePlan("t1", first._id, first.requestId);
    const made = (await Promise.all(amendments)).filter(({ type }) => type === "amended");
    await starting;
    const versions = await versionsOf(first.requestId);
    if (made.length === 1) expect(versions.at(-1)).toEqual([1, "SUPERSEDED"]);
    else expect([made.length, versions]).toEqual([0, [[1, "QUEUED"]]]);
  });

  test("makes one version under a key, and refuses the key for other content", async () => {
    const store = await opened();
    const id = await failed(store);
    const key = (payloadHash: string) => ({ idempotency: { key: "k", payloadHash } });
    expect((await store.amendPlan("t1", id, amended(FIRST, key("p")))).type).toBe("amended");
    expect(await store.amendPlan("t1", id, amended(FIRST, key("p")))).toMatchObject({
      type: "repeated",
      request: { version: 2 },
    });
    await expect(store.amendPlan("t1", id, amended(FIRST, key("q")))).rejects.toBeInstanceOf(
      IdempotencyKeyReusedError,
    );
  });
});
