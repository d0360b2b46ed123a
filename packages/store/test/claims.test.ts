import { JournalInvalidError } from "@planwright/engine";
import { type Plan, parsePlan } from "@planwright/plan";
import { type Intent, LeaseLostError, type PlanClaim } from "@planwright/store";
import { findDue, listSteps } from "@planwright/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

/** Longer than a process is suspended on a busy machine, in milliseconds. */
const TIMEOUT_MS = 5_000;
let opened: OpenStore;
let store: OpenStore["store"];

function planOf(...tools: string[]): Plan {
  const parsed = parsePlan(tools.map((tool) => ({ id: tool, tool, arguments: {} })));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

type Submission = Parameters<OpenStore["store"]["submitPlan"]>[0];

const submissionOf = (...tools: string[]): Submission => ({
  tenant: "t1",
  query: null,
  plan: planOf(...tools),
  raw: "",
  diagnostics: [],
  autoExecute: true,
});

async function queued(...tools: string[]): Promise<string> {
  const { plan } = await store.submitPlan(submissionOf(...tools));
  return plan._id;
}

/** A place in an executor of this process, and what became of it. */
function placeOf(owner: string) {
  const told: string[] = [];
  const place = { owner, begin: () => void told.push("begin"), leave: () => void told.push("leave") };
  return { told, reserve: () => place };
}

/**
 * Claims a plan when it is due: the clock of the API that accepted it differs from the server's by a few
 * milliseconds.
 */
async function claimed(planId: string, owner = "e1"): Promise<PlanClaim> {
  return vi.waitUntil(() => store.claimPlan(planId, owner), { timeout: TIMEOUT_MS, interval: 1 });
}

/** The first call of a step. */
const intentOf = (key: string): Intent => ({
  call: {
    key,
    stepId: key,
    attempt: 1,
    tool: key,
    arguments: { n: 1 },
    effectClass: "R",
    mayAct: false,
    timeoutMs: 1_000,
  },
  attemptId: `try-${key}`,
  argsHash: "h",
});

/** Makes a plan due, as if its owner were dead, and claims it. */
async function ownerDead(planId: string, owner: string): Promise<PlanClaim> {
  await opened.change("plans", planId, { dueAt: new Date(0) });
  return claimed(planId, owner);
}

describe.each(STORES)("a store on $name", ({ open }) => {
  beforeEach(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterEach(async () => {
    await opened.close();
  });

  describe("claiming a plan", () => {
    test("gives the first claimer epoch 1 and later ones nothing while the lease is valid", async () => {
      const planId = await queued("a", "b");
      const results = await Promise.all(["e1", "e2", "e3"].map((owner) => store.claimPlan(planId, owner)));
      const claims = results.filter((claim) => claim !== null);
      // Its steps have no events: they are PENDING.
      expect(claims.map(({ epoch, records }) => ({ epoch, records }))).toEqual([{ epoch: 1, records: [] }]);
    });

    test("of a plan that was stored as claimed gives the same as a claim, without a read or a write", async () => {
      const { told, reserve } = placeOf("e1");
      const accepted = await store.submitPlan({ ...submissionOf("a", "b"), reserve });
      expect(told).toEqual(["begin"]);
      expect(accepted.plan).toMatchObject({ status: "RUNNING", dueAt: null });
      const here = await store.claimPlan(accepted.plan._id, "e1");
      const later = await claimed(await queued("a", "b"));
      const others = [
        "_id",
        "requestId",
        "createdAt",
        "queuedAt",
        "startedAt",
        "deadlineAt",
        "updatedAt",
        "writeId",
      ];
      const comparable = (claim: PlanClaim | null) => ({
        ...claim,
        plan: Object.fromEntries(
          Object.entries(claim?.plan ?? {}).filter(([field]) => !others.includes(field)),
        ),
        journal: claim?.journal.seq(),
        waited: claim?.waited?.reason,
      });
      expect(comparable(here)).toEqual(comparable(later));
      expect(await store.getPlan("t1", accepted.plan._id)).toEqual(here?.plan);
      // It has one owner, which gets it once.
      expect(await store.claimPlan(accepted.plan._id, "e1")).toBeNull();
      expect(await store.claimPlan(accepted.plan._id, "e2")).toBeNull();
      // When its owner dies before its first entry, the next one continues.
      await store.takeFromDead({ declaresSilent: false });
      expect(await claimed(accepted.plan._id, "e2")).toMatchObject({ epoch: 2, records: [] });
    });

    test("fails under a name that its owner has had since it was stored, and the plan goes to any executor", async () => {
      const { reserve } = placeOf("e1");
      const { plan } = await store.submitPlan({ ...submissionOf("a"), reserve });
      expect(await store.claimPlan(plan._id, "e1.2")).toBeNull();
      await store.takeFromDead({ declaresSilent: false });
      expect((await claimed(plan._id, "e1.2")).epoch).toBe(2);
    });

    test("leaves the place when a plan is not to run, not valid, or was stored earlier with the same key", async () => {
      const idempotency = { key: "k", payloadHash: "h" };
      const first = await store.submitPlan({ ...submissionOf("a"), idempotency });
      const { told, reserve } = placeOf("e1");
      const again = await store.submitPlan({ ...submissionOf("a"), idempotency, reserve });
      expect([again.plan._id, again.plan.status, told]).toEqual([first.plan._id, "QUEUED", ["leave"]]);
      await store.submitPlan({ ...submissionOf("a"), autoExecute: false, reserve });
      await store.submitPlan({ ...submissionOf("a"), plan: null, reserve });
      expect(told).toEqual(["leave"]);
      const { plan } = await store.submitPlan({ ...submissionOf("a"), reserve: () => null });
      expect(plan.status).toBe("QUEUED");
    });

    test("gives a plan to another owner when its owner is unknown, and fences the old one", async () => {
      const planId = await queued("a");
      const first = await claimed(planId);
      await store.takeFromDead({ declaresSilent: false });
      const second = await claimed(planId, "e2");
      expect(second.epoch).toBe(2);

      const record = {
        key: "a",
        stepId: "a",
        status: "COMPLETED" as const,
        attempts: 1,
        output: { from: "stale" },
      };
      await expect(playRecords(store, first, [record])).rejects.toBeInstanceOf(LeaseLostError);
      await expect(
        store.finishPlan(first, { type: "finish", status: "COMPLETED", outputs: {} }),
      ).rejects.toBeInstanceOf(LeaseLostError);
      expect(await store.planLeases.findHeld("e1")).toEqual([]);
      await playRecords(store, second, [{ ...record, output: { from: "owner" } }]);
      const [step] = await listSteps(store, "t1", [planId]);
      expect(step).toMatchObject({ status: "COMPLETED", output: { from: "owner" } });
    });

    test("keeps a lease as long as its worker lives", async () => {
      const planId = await queued("a");
      await store.addWorker({ _id: "e1", kind: "executor", deadAfterMs: 3_600_000 });
      const { plan, epoch } = await claimed(planId);
      expect(await store.takeFromDead({ declaresSilent: true })).toEqual({
        owners: [],
        plans: 0,
        requests: 0,
      });
      expect(await store.claimPlan(planId, "e2")).toBeNull();
      expect(await store.planLeases.findHeld("e1")).toEqual([{ id: plan._id, epoch }]);
      await store.removeWorker("e1");
      expect(await store.takeFromDead({ declaresSilent: false })).toEqual({
        owners: ["e1"],
        plans: 1,
        requests: 0,
      });
      expect((await claimed(planId, "e2")).plan.takenFrom).toBe("e1");
    });

    test("releases a plan that its owner does not work on, unless it was claimed again", async () => {
      const planId = await queued("a");
      await claimed(planId);
      const [lost] = await store.planLeases.findHeld("e1");
      if (!lost) throw new TypeError("it holds nothing");
      expect(await store.planLeases.releaseUnheld([lost])).toEqual([lost]);
      expect(await store.planLeases.findHeld("e1")).toEqual([]);
      const second = await claimed(planId);
      expect(second.epoch).toBe(2);
      expect(await store.planLeases.releaseUnheld([lost])).toEqual([]);
      expect(await store.planLeases.findHeld("e1")).toEqual([{ id: second.plan._id, epoch: 2 }]);
      expect(await store.claimPlan(planId, "e2")).toBeNull();
    });

    test("never changes a step that has ended", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      const done = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
      await playRecords(store, claim, [done]);
      await expect(store.writeRecords(claim, [{ ...done, output: 2 }], [])).rejects.toBeInstanceOf(
        JournalInvalidError,
      );
      expect((await listSteps(store, "t1", [planId]))[0]?.output).toBe(1);
      const next = await ownerDead(planId, "e2");
      expect(next.records).toMatchObject([{ key: "a", status: "COMPLETED", output: 1 }]);
    });

    test("counts claims without progress, and starts again after progress", async () => {
      const planId = await queued("a", "b");
      await claimed(planId);
      const second = await ownerDead(planId, "e2");
      expect(second.plan.claims).toBe(2);
      await playRecords(store, second, [
        { key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: 1 },
      ]);
      const third = await ownerDead(planId, "e3");
      expect(third.plan.claims).toBe(1);
      const fourth = await ownerDead(planId, "e4");
      expect(fourth.plan.claims).toBe(2);
    });

    test("subtracts a claim from that count once if its owner survived", async () => {
      const planId = await queued("a", "b");
      const first = await claimed(planId);
      const second = await ownerDead(planId, "e2");
      const survived = { id: first.plan._id, epoch: 1 };
      await store.planLeases.recordSurvived([survived]);
      await store.planLeases.recordSurvived([survived]);
      const third = await ownerDead(planId, "e3");
      expect(third.plan.claims).toBe(2);
      expect(second.epoch).toBe(2);
      await store.planLeases.recordSurvived([{ ...survived, epoch: 2 }]);
      await store.planLeases.recordSurvived([{ ...survived, epoch: 3 }]);
      const fourth = await ownerDead(planId, "e4");
      expect(fourth.plan.claims).toBe(1);
    });

    test("does not count units of an interrupted end as POISONED as progress", async () => {
      const planId = await queued("a", "b");
      const first = await claimed(planId);
      const error = { code: "POISONED", message: "it kills its executors", retryable: false };
      await store.writeRecords(first, [{ key: "a", stepId: "a", status: "SKIPPED", attempts: 0, error }], []);
      const second = await ownerDead(planId, "e2");
      expect(second.plan.claims).toBe(2);
    });
  });

  describe("work for the sweep", () => {
    test("comes in turns over the tenants, and by priority and age within one", async () => {
      const submit = async (tenant: string, priority?: "low" | "high") => {
        const { plan } = await store.submitPlan({
          tenant,
          query: null,
          plan: planOf("a"),
          raw: "",
          diagnostics: [],
          autoExecute: true,
        });
        await opened.change("plans", plan._id, { dueAt: new Date(0), ...(priority && { priority }) });
        return plan._id;
      };
      const low = await submit("t1", "low");
      const normal = await submit("t1");
      const more = [await submit("t1"), await submit("t1"), await submit("t1")];
      const high = await submit("t1", "high");
      const other = await submit("t2");
      const find = async (limit: number, full: string[] = []) =>
        (await store.planLeases.findInTurns(limit, full)).map(({ id }) => id);
      // The line of t1 alone fills the limit, and t2 is not behind it.
      expect(await find(4)).toEqual([high, other, normal, more[0]]);
      expect(await find(4, ["t1"])).toEqual([other]);
      expect(await find(10)).toEqual([high, other, normal, ...more, low]);
      expect(await store.planLeases.findInTurns(1, ["t1"])).toEqual([{ id: other, tenant: "t2" }]);
    });
  });

  describe("releasing a plan", () => {
    test("lets another owner claim at once after a hand-over", async () => {
      const planId = await queued("a");
      await store.releasePlan(await claimed(planId), { status: "QUEUED" });
      // Due by the server's clock, which this process knows to a few milliseconds.
      await expect
        .poll(() => findDue(store.planLeases, 10), { timeout: TIMEOUT_MS, interval: 1 })
        .toEqual([planId]);
      expect((await claimed(planId, "e2")).epoch).toBe(2);
    });

    test("as PAUSED queues a plan that was resumed meanwhile, without a wait reason", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await store.requestPause("t1", planId, "client");
      await store.requestResume("t1", planId, "client");
      claim.plan.controlSeq = 2;
      await store.releasePlan(claim, { status: "PAUSED", reason: "paused", dueAtMs: null });
      expect(await store.getPlan("t1", planId)).toMatchObject({ status: "QUEUED", waitReason: null });
      expect((await claimed(planId, "e2")).plan.status).toBe("RUNNING");
    });

    test("keeps a waiting plan from being claimed until it is due", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await store.releasePlan(claim, {
        status: "WAITING",
        reason: "backoff",
        dueAtMs: store.now() + 3_600_000,
      });
      expect(await findDue(store.planLeases, 10)).toEqual([]);
      expect(await store.claimPlan(planId, "e2")).toBeNull();
      expect(await store.getPlan("t1", planId)).toMatchObject({ status: "WAITING", waitReason: "backoff" });
    });

    test("begins a wait: the next claim says how long it was and for what; the first one, how long it was queued", async () => {
      const planId = await queued("a");
      const { queuedAt } = (await store.getPlan("t1", planId)) ?? {};
      const claim = await claimed(planId);
      const ms = claim.plan.updatedAt.getTime() - (queuedAt?.getTime() ?? 0);
      expect(claim.waited).toEqual({ reason: "no worker", ms });
      await store.releasePlan(claim, { status: "WAITING", reason: "limit", dueAtMs: store.now() });
      await expect.poll(() => findDue(store.planLeases, 10)).toEqual([planId]);
      const next = await claimed(planId, "e2");
      expect(next.waited).toEqual({ reason: "limit", ms: expect.any(Number) });
      await store.planLeases.releaseUnheld([{ id: planId, epoch: next.epoch }]);
      expect((await claimed(planId, "e3")).waited).toBeNull();
    });

    test("makes a plan due at once if it was cancelled while it was held", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await store.requestCancel("t1", planId, "client");
      expect(await store.getPlan("t1", planId)).toMatchObject({ cancelRequestedAt: expect.any(Date) });
      await store.releasePlan(claim, {
        status: "WAITING",
        reason: "backoff",
        dueAtMs: store.now() + 3_600_000,
      });
      expect(await store.claimPlan(planId, "e2")).not.toBeNull();
    });
  });

  describe("controls", () => {
    test("are told to the owner at once, are first in its next entry, and leave the plan's document", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      const heard: string[][] = [];
      claim.journal.onControl(() => void heard.push(claim.journal.asked().map(({ type }) => type)));
      await store.requestPause("t1", planId, "Olga");
      await store.requestCancel("t1", planId, "Otto");
      await store.applyControls([claim]);
      await store.applyControls([claim]);
      expect(heard).toEqual([["pause.asked", "cancel.asked"]]);
      await store.writeIntents(claim, [intentOf("a")]);
      await expect.poll(() => heard).toEqual([["pause.asked", "cancel.asked"], []]);
      expect(claim.journal.plan()).toMatchObject({
        pauseAskedAt: expect.any(Date),
        cancelAskedAt: expect.any(Date),
      });
      await store.applyControls([claim]);
      expect((await store.getPlan("t1", planId))?.controls).toEqual([]);
    });

    test("are at most 100 that wait for the owner; a cancel always finds room", async () => {
      const planId = await queued("a");
      await claimed(planId);
      for (let asked = 0; asked < 50; asked++) {
        await store.requestPause("t1", planId, "Olga");
        await store.requestResume("t1", planId, "Olga");
      }
      await expect(store.requestPause("t1", planId, "Olga")).rejects.toMatchObject({
        code: "TOO_MANY_CONTROLS",
        retryable: true,
      });
      expect(await store.requestCancel("t1", planId, "Olga")).toMatchObject({
        cancelRequestedAt: expect.any(Date),
        controlSeq: 101,
      });
    });

    test("and an owner that appends as fast as it can do not block each other", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      let isAsked = false;
      const append = async (): Promise<void> => {
        for (let tries = 1; !isAsked; tries++) {
          await store.writeIntents(claim, [{ ...intentOf("a"), attemptId: `try ${tries}` }]);
          const error = { code: "BUSY", message: "again", retryable: true };
          const record = { key: "a", stepId: "a", status: "RETRYING" as const, attempts: 1, error };
          const ended = { key: "a", attemptId: `try ${tries}`, endedAtMs: store.now(), durationMs: 1 };
          await store.writeRecords(claim, [record], [{ ...ended, outcome: "failed", error }]);
          // In memory no operation takes time.
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const appending = append();
      await store.requestCancel("t1", planId, "client");
      isAsked = true;
      await appending;
      await store.applyControls([claim]);
      await claim.journal.append([]);
      expect(claim.journal.plan()?.cancelAskedAt).toEqual(expect.any(Date));
    });

    test("of an owner that was declared dead reach the next owner", async () => {
      const planId = await queued("a");
      await claimed(planId);
      await store.requestPause("t1", planId, "client");
      const next = await ownerDead(planId, "e2");
      expect(next.journal.plan()).toMatchObject({ pauseAskedAt: expect.any(Date) });
    });
  });

  describe("the end of a plan", () => {
    test("is written to the request too", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await playRecords(store, claim, [
        { key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: 1 },
      ]);
      await store.finishPlan(claim, { type: "finish", status: "PARTIAL", outputs: { a: 1 } });
      expect(await store.getPlan("t1", planId)).toMatchObject({
        status: "PARTIAL",
        lease: null,
        counts: { COMPLETED: 1 },
        outputs: { a: 1 },
      });
      expect(await store.getRequest("t1", claim.plan.requestId)).toMatchObject({ status: "PARTIAL" });
      expect(await findDue(store.planLeases, 10)).toEqual([]);
    });

    test("is written with the last results, also large ones", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      const large = "x".repeat(100_000);
      const end = { status: "COMPLETED", outputs: { a: 1 } } as const;
      const records = [
        { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 },
        { key: "b", stepId: "b", status: "COMPLETED" as const, attempts: 1, output: large },
      ];
      await store.writeIntents(claim, [intentOf("a"), intentOf("b")]);
      await store.finishPlan(claim, { type: "finish", ...end }, { records, ends: [] });
      expect(await store.getPlan("t1", planId)).toMatchObject({ ...end, counts: { COMPLETED: 2 } });
      const [a, b] = await listSteps(store, "t1", [planId]);
      expect([a, b]).toMatchObject([
        { status: "COMPLETED", output: 1, finishedAt: expect.any(Date) },
        { status: "COMPLETED", outputRef: { id: expect.any(String) } },
      ]);
    });

    test("writes nothing for an owner that lost the lease", async () => {
      const planId = await queued("a");
      const first = await claimed(planId);
      await ownerDead(planId, "e2");
      const records = [{ key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: "stale" }];
      const finish = { type: "finish", status: "COMPLETED", outputs: {} } as const;
      store.noteIntents(first, [intentOf("a")]);
      await expect(store.finishPlan(first, finish, { records, ends: [] })).rejects.toBeInstanceOf(
        LeaseLostError,
      );
      expect(await store.getPlan("t1", planId)).toMatchObject({ status: "RUNNING", finishedAt: null });
      const [step] = await listSteps(store, "t1", [planId]);
      expect([step?.status, step?.output]).toEqual(["PENDING", undefined]);
    });

    test("is written to a request whose executor died between the two writes", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
      await opened.change("requests", claim.plan.requestId, { status: "EXECUTING", updatedAt: new Date(0) });
      expect(await store.reconcileRequests()).toBe(1);
      expect(await store.getRequest("t1", claim.plan.requestId)).toMatchObject({ status: "COMPLETED" });
    });

    test("outputs that look like operators are data", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      const outputs = { a: { $where: "1", "b.c": "$status" } };
      await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
      expect((await store.getPlan("t1", planId))?.outputs).toEqual(outputs);
    });
  });

  describe("intents", () => {
    const end = (key: string) => ({
      key,
      attemptId: `try-${key}`,
      endedAtMs: store.now(),
      durationMs: 3,
      outcome: "completed" as const,
      error: null,
    });

    test("that are noted are written with the next result", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      store.noteIntents(claim, [intentOf("a"), intentOf("b")]);
      expect((await listSteps(store, "t1", [planId])).map(({ status }) => status)).toEqual([
        "PENDING",
        "PENDING",
      ]);
      const done = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
      await store.writeRecords(claim, [done], [end("a")]);
      const [a, b] = await listSteps(store, "t1", [planId]);
      expect(a).toMatchObject({
        status: "COMPLETED",
        arguments: { value: { n: 1 } },
        attempts: [{ attemptId: "try-a", outcome: "completed", durationMs: 3 }],
      });
      expect(b).toMatchObject({ status: "RUNNING", attempts: [{ attemptId: "try-b", outcome: null }] });
    });

    test("noted results are durable before or with later writes", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      const done = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: { n: 7 } };
      store.noteIntents(claim, [intentOf("a")]);
      expect(store.noteRecords(claim, [done], [end("a")])).toEqual(new Map([["a", 7]]));
      expect((await listSteps(store, "t1", [planId]))[0]?.status).toBe("PENDING");
      await store.writeIntents(claim, [intentOf("b")]);
      const [a, b] = await listSteps(store, "t1", [planId]);
      expect([a?.status, a?.output, b?.status]).toEqual(["COMPLETED", { n: 7 }, "RUNNING"]);
      expect(a?.seq).toBe(b?.seq);
      expect(await store.readStoredOutputs(claim, ["a"])).toEqual([{ key: "a", output: { n: 7 } }]);
    });

    test("results and intents of one turn are written in the order of the calls", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      await store.writeIntents(claim, [intentOf("a")]);
      const failed = { key: "a", stepId: "a", status: "FAILED" as const, attempts: 1 };
      const error = { code: "NO", message: "no", retryable: false };
      await Promise.all([
        store.writeRecords(claim, [{ ...failed, error }], [{ ...end("a"), outcome: "failed", error }]),
        store.writeIntents(claim, [intentOf("b")]),
      ]);
      const [a, b] = await listSteps(store, "t1", [planId]);
      expect([a?.status, b?.status]).toEqual(["FAILED", "RUNNING"]);
      expect(a?.seq).toBeLessThanOrEqual(b?.seq ?? 0);
    });

    test("a result that has to be stored separately is not noted", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      store.noteIntents(claim, [intentOf("a")]);
      const large = {
        key: "a",
        stepId: "a",
        status: "COMPLETED" as const,
        attempts: 1,
        output: "x".repeat(40_000),
      };
      expect(store.noteRecords(claim, [large], [end("a")])).toBeUndefined();
      await store.writeNoted(claim);
      expect((await listSteps(store, "t1", [planId]))[0]?.status).toBe("RUNNING");
      await store.writeRecords(claim, [large], [end("a")]);
      expect((await listSteps(store, "t1", [planId]))[0]?.status).toBe("COMPLETED");
    });

    test("noted results are durable before the plan is released", async () => {
      const planId = await queued("a", "b");
      const claim = await claimed(planId);
      const done = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
      store.noteIntents(claim, [intentOf("a")]);
      store.noteRecords(claim, [done], [end("a")]);
      await store.releasePlan(claim, { status: "QUEUED" });
      const next = await claimed(planId);
      expect(next.records.map(({ key, status }) => [key, status])).toEqual([["a", "COMPLETED"]]);
    });

    test("that are noted become visible by `writeNoted`", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      store.noteIntents(claim, [intentOf("a")]);
      await store.writeNoted(claim);
      const [a] = await listSteps(store, "t1", [planId]);
      expect(a).toMatchObject({ status: "RUNNING", attempts: [{ attemptId: "try-a", outcome: null }] });
    });

    test("that are written are durable at once", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      await store.writeIntents(claim, [intentOf("a")]);
      expect((await listSteps(store, "t1", [planId]))[0]).toMatchObject({ status: "RUNNING", argsHash: "h" });
    });
  });

  describe("the intent of a complete batch that is sent again", () => {
    const items = [0, 1].map((item) => ({ key: `a[${item}]`, stepId: "a", item }));
    const batch = { key: "a[0..1]", stepId: "a", items: [0, 1], tool: "a", arguments: {}, timeoutMs: 1_000 };
    /** A list with one completed item. */
    async function halfDone(): Promise<PlanClaim> {
      const planId = await queued("a");
      const claim = await claimed(planId);
      const [first, second] = items;
      const open = { ...second!, status: "PENDING" as const, attempts: 0 };
      const done = { ...first!, status: "COMPLETED" as const, attempts: 1, output: 1 };
      await playRecords(store, claim, [open, done]);
      return ownerDead(planId, "e2");
    }
    const statuses = async ({ plan }: PlanClaim) =>
      (await listSteps(store, "t1", [plan._id]))
        .filter(({ item }) => item !== null)
        .map(({ status, attempts }) => [status, attempts.length]);
    const open = [
      ["COMPLETED", 1],
      ["RUNNING", 1],
    ];

    test("does not change items that have ended", async () => {
      const claim = await halfDone();
      const call = { ...batch, attempt: 2, effectClass: "K" as const, mayAct: true };
      await store.writeIntents(claim, [{ call, attemptId: "again", argsHash: "h" }]);
      expect(await statuses(claim)).toEqual(open);
    });

    test("is refused when all items have ended", async () => {
      const claim = await halfDone();
      const call = { ...batch, items: [0], attempt: 2, effectClass: "K" as const, mayAct: true };
      const written = store.writeIntents(claim, [{ call, attemptId: "again", argsHash: "h" }]);
      await expect(written).rejects.toBeInstanceOf(JournalInvalidError);
    });

    test("does not change them either when it is only noted", async () => {
      const claim = await halfDone();
      const call = { ...batch, attempt: 2, effectClass: "R" as const, mayAct: false };
      store.noteIntents(claim, [{ call, attemptId: "again", argsHash: "h" }]);
      await store.writeNoted(claim);
      expect(await statuses(claim)).toEqual(open);
    });
  });

  describe("a forEach", () => {
    test("gets a unit for each item, fenced like every other", async () => {
      const planId = await queued("a");
      const claim = await claimed(planId);
      const items = Array.from({ length: 25 }, (_, item) => ({
        key: `a[${item}]`,
        stepId: "a",
        item,
        status: "PENDING" as const,
        attempts: 0,
      }));
      await store.writeRecords(claim, items, []);
      const units = await listSteps(store, "t1", [planId]);
      expect(units.map((unit) => unit.item)).toEqual([null, ...items.map(({ item }) => item)]);
      const next = await ownerDead(planId, "e2");
      expect(next.records.map(({ key }) => key)).toEqual(items.map(({ key }) => key));
      await expect(
        playRecords(store, claim, [{ ...items[0]!, status: "COMPLETED", output: 1 }]),
      ).rejects.toBeInstanceOf(LeaseLostError);
    });
  });
});
