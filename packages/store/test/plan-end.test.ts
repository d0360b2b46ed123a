/**
 * The entry of a plan's end is its commit point: after any crash, the documents of plan and request follow
 * it.
 */
import { randomUUID } from "node:crypto";
import type { JournalEvent } from "@planwright/engine";
import { type PlanId, parsePlan } from "@planwright/plan";
import { LeaseLostError, type PlanClaim } from "@planwright/store";
import {
  createMemoryDatabase,
  createMemoryStore,
  type MemoryStore,
  type Reach,
  UnreachableError,
} from "@planwright/store/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
let opened: OpenStore;
let store: OpenStore["store"];

async function submitted(on: MemoryStore, more: { maxReplans?: number; wantsAnswer?: boolean } = {}) {
  const parsed = parsePlan(["a", "b"].map((id) => ({ id, tool: id, arguments: {} })));
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: TENANT, query: null, raw: "", diagnostics: [], autoExecute: true };
  return (await on.submitPlan({ ...input, ...more, plan: parsed.plan })).plan._id;
}

async function claimed(planId: PlanId, owner = "e1"): Promise<PlanClaim> {
  await opened.change("plans", planId, { dueAt: new Date(0) });
  const claim = await store.claimPlan(planId, owner);
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

const completed = (key: string) => ({
  key,
  stepId: key,
  status: "COMPLETED" as const,
  attempts: 1,
  output: 1,
});
const planEnded = (more: object = {}): JournalEvent => ({
  type: "plan.ended",
  status: "COMPLETED",
  outputs: { a: 1 },
  error: null,
  ...more,
});

describe.each(STORES)("in a store on $name", ({ open }) => {
  beforeEach(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterEach(() => opened.close());

  test("the next claim writes the end of an owner that died before it wrote plan and request, and returns null", async () => {
    const planId = await submitted(store);
    const claim = await claimed(planId);
    await playRecords(store, claim, [completed("a"), completed("b")]);
    await claim.journal.append([planEnded()]);
    expect((await store.getPlan(TENANT, planId))?.status).toBe("RUNNING");
    await opened.change("plans", planId, { dueAt: new Date(0) });
    expect(await store.claimPlan(planId, "e2")).toBeNull();
    expect(await store.getPlan(TENANT, planId)).toMatchObject({
      status: "COMPLETED",
      outputs: { a: 1 },
      counts: { COMPLETED: 2 },
      lease: null,
      dueAt: null,
      error: null,
      finishedAt: claim.journal.plan()?.finishedAt,
    });
    expect((await store.getRequest(TENANT, claim.plan.requestId))?.status).toBe("COMPLETED");
  });

  test("the next claim also writes its error, and the work for a planner", async () => {
    const planId = await submitted(store, { maxReplans: 1 });
    const claim = await claimed(planId);
    const error = { code: "PLAN_FAILED", message: "a failed", retryable: false };
    const failed = (key: string) => ({ key, stepId: key, status: "SKIPPED" as const, attempts: 0 });
    await store.writeRecords(claim, [failed("a"), failed("b")], []);
    await claim.journal.append([planEnded({ status: "FAILED", outputs: {}, error })]);
    await opened.change("plans", planId, { dueAt: new Date(0) });
    expect(await store.claimPlan(planId, "e2")).toBeNull();
    expect(await store.getPlan(TENANT, planId)).toMatchObject({
      status: "FAILED",
      error,
      counts: { SKIPPED: 2 },
    });
    expect(await store.getRequest(TENANT, claim.plan.requestId)).toMatchObject({
      status: "PLANNING",
      replans: { made: 1 },
    });
  });

  test("an owner whose lease was taken while it appended the end has ended the plan", async () => {
    const planId = await submitted(store);
    const first = await claimed(planId);
    await playRecords(store, first, [completed("a"), completed("b")]);
    // Its successor has the lease, and has appended nothing yet.
    await opened.change("plans", planId, {
      lease: { owner: "e2", epoch: 2, expiresAt: new Date(1) },
      epoch: 2,
    });
    await store.finishPlan(first, { type: "finish", status: "COMPLETED", outputs: { a: 1 } });
    expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "COMPLETED", lease: null });
    expect((await store.getRequest(TENANT, first.plan.requestId))?.status).toBe("COMPLETED");
  });

  test("a replaced owner cannot end the plan", async () => {
    const planId = await submitted(store);
    const first = await claimed(planId);
    const second = await claimed(planId, "e2");
    const end = { type: "finish", status: "COMPLETED", outputs: {} } as const;
    await expect(store.finishPlan(first, end)).rejects.toBeInstanceOf(LeaseLostError);
    expect((await store.getPlan(TENANT, planId))?.status).toBe("RUNNING");
    await store.finishPlan(second, { ...end, status: "FAILED" });
    expect((await store.getPlan(TENANT, planId))?.status).toBe("FAILED");
  });

  test("outputs that are too large for the last entry are only in their steps", async () => {
    const planId = await submitted(store);
    const claim = await claimed(planId);
    await playRecords(store, claim, [completed("a"), completed("b")]);
    const outputs = { a: "x".repeat(300_000) };
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
    expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "COMPLETED", outputs: null });
    expect(claim.journal.plan()).toMatchObject({ status: "COMPLETED", endedSeq: expect.any(Number) });
  });

  test("short numbers, which take more bytes in MongoDB than as JSON, are only in their steps too", async () => {
    const planId = await submitted(store);
    const claim = await claimed(planId);
    const numbers = Array.from({ length: 120_000 }, () => 1);
    await playRecords(store, claim, [{ ...completed("a"), output: numbers }, completed("b")]);
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: { a: numbers, b: 1 } });
    expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "COMPLETED", outputs: null });
  });

  test("a plan that was cancelled before its start has its end in the journal too", async () => {
    const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
    if (!parsed.ok) throw new TypeError("the plan is not valid");
    const input = { tenant: TENANT, query: null, raw: "", diagnostics: [], autoExecute: false };
    const { request } = await store.submitPlan({ ...input, plan: parsed.plan });
    await store.requestCancel(TENANT, request.planId, "client");
    // A rerun needs the end in the journal.
    const rerun = await store.rerunPlan(TENANT, request._id, { from: null, autoExecute: true });
    expect(rerun.type).toBe("rerun");
  });
});

test("while the end is written, no reader sees an ended request with a plan that has not ended", async () => {
  const database = createMemoryDatabase();
  const seen: string[] = [];
  database.onChange(() => {
    const [request] = database.find("requests", {});
    const [plan] = database.find("plans", {});
    seen.push(`${String(request?.["status"])} ${String(plan?.["status"])}`);
  });
  const memory = createMemoryStore({ database, owner: randomUUID() });
  const planId = await submitted(memory);
  const claim = await memory.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  await memory.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
  expect(seen.at(-1)).toBe("FAILED FAILED");
  expect(seen).not.toContain("FAILED RUNNING");
});

test("when the database is away after the entry, the documents are written by the next claim", async () => {
  const database = createMemoryDatabase();
  let isCut = false;
  const cut: Reach = async ({ name, apply }) => {
    if (isCut && /\.(write|updateOne)$/.test(name)) throw new UnreachableError("lost");
    return apply();
  };
  const dying = createMemoryStore({ database, owner: "e1", reach: cut, retryForMs: 0 });
  const planId = await submitted(dying);
  const claim = await dying.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  isCut = true;
  await expect(
    dying.finishPlan(claim, { type: "finish", status: "PARTIAL", outputs: { a: 1 } }),
  ).rejects.toThrow();
  const other = createMemoryStore({ database, owner: "e2" });
  database.update("plans", { _id: planId }, { set: { dueAt: new Date(0) }, isPipeline: false });
  expect(await other.claimPlan(planId, "e2")).toBeNull();
  expect(await other.getPlan(TENANT, planId)).toMatchObject({ status: "PARTIAL", outputs: { a: 1 } });
});
