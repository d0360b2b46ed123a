import { type Plan, parsePlan } from "@planwright/plan";
import {
  CursorInvalidError,
  createStore,
  LeaseLostError,
  type ModelAway,
  type ModelWait,
  type Store,
} from "@planwright/store";
import { findDue, listSteps, testServers } from "@planwright/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let url: string;
let store: Store;

beforeEach(async () => {
  url = testServers().mongodbUrl;
  store = await createStore({ url });
});
afterEach(async () => {
  await store.close();
});

const origin = { kind: "offline" as const, model: null };

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const ask = (autoExecute = false) => store.createRequest({ tenant: "t1", query: "do a", autoExecute });

describe("planning", () => {
  test("stores the plan under the id that was fixed when the request was accepted", async () => {
    const request = await ask();
    const claim = await store.claimRequest(request._id, "p1");
    const plan = await store.completePlanning(claim!, {
      plan: onePlan(),
      raw: null,
      origin,
      diagnostics: [],
    });
    expect(plan).toMatchObject({ _id: request.planId, status: "READY" });
    expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "READY" });
    expect(await listSteps(store, "t1", [plan._id])).toHaveLength(1);
  });

  test("queues the plan at once with autoExecute, also when it was set during planning", async () => {
    const request = await ask();
    const claim = await store.claimRequest(request._id, "p1");
    expect(await store.queuePlan("t1", request.planId, request._id)).toBeNull();
    const plan = await store.completePlanning(claim!, {
      plan: onePlan(),
      raw: null,
      origin,
      diagnostics: [],
    });
    expect(plan.status).toBe("QUEUED");
    expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "EXECUTING" });
    await expect.poll(() => findDue(store.planLeases, 5)).toEqual([request.planId]);
  });

  test("by two planners stores one plan", async () => {
    const request = await ask();
    const first = await store.claimRequest(request._id, "p1");
    expect(await store.claimRequest(request._id, "p2")).toBeNull();
    // Its owner is an unknown worker.
    await store.takeFromDead({ declaresSilent: false });
    expect(await store.claimRequest(request._id, "p2")).not.toBeNull();
    await expect(
      store.completePlanning(first!, { plan: onePlan(), raw: null, origin, diagnostics: [] }),
    ).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.getPlan("t1", request.planId)).toBeNull();
  });

  test("that is cancelled stores nothing, and is not claimed again", async () => {
    const request = await ask(true);
    const claim = await store.claimRequest(request._id, "p1");
    expect(await store.cancelPlanning("t1", request._id)).toMatchObject({ status: "CANCELLED" });
    expect(await store.requestLeases.findHeld("p1")).toEqual([]);
    const written = { plan: onePlan(), raw: null, origin, diagnostics: [] };
    await expect(store.completePlanning(claim!, written)).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.getPlan("t1", request.planId)).toBeNull();
    expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "CANCELLED", error: null });
    expect(await store.claimRequest(request._id, "p2")).toBeNull();
  });

  test("that fails stores the error, and the model's text as an INVALID plan", async () => {
    const request = await ask();
    const claim = await store.claimRequest(request._id, "p1");
    await store.failPlanning(claim!, {
      error: { code: "PLAN_INVALID", message: "no" },
      diagnostics: [{ code: "CYCLE", severity: "error", message: "a -> a" }],
      raw: "{}",
      plan: null,
      origin,
    });
    expect(await store.getRequest("t1", request._id)).toMatchObject({
      status: "FAILED",
      error: { code: "PLAN_INVALID" },
    });
    expect(await store.getPlan("t1", request.planId)).toMatchObject({ status: "INVALID", raw: "{}" });
    expect(await findDue(store.requestLeases, 5)).toEqual([]);
  });

  test.each([
    { answer: "no answer", raw: null, version: 1 },
    { answer: "an answer that is no plan", raw: "{}", version: 2 },
  ])(
    "that failed with $answer begins again when a client retries it, and makes version $version",
    async ({ raw, version }) => {
      const request = await ask(true);
      const error = { code: "MODEL_UNREACHABLE", message: "no" };
      const failed = { error, diagnostics: [], raw, plan: null, origin };
      await store.failPlanning((await store.claimRequest(request._id, "p1"))!, failed);
      const retry = (key: string) =>
        store.rerunPlan("t1", request._id, {
          from: null,
          autoExecute: true,
          idempotency: { key, payloadHash: "p" },
        });
      const dryRun = { from: null, autoExecute: true, dryRun: true };
      expect(await store.rerunPlan("t1", request._id, dryRun)).toMatchObject({ type: "planning" });
      expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "FAILED" });
      const again = { status: "PLANNING", version, error: null, answers: [], claims: 0 };
      expect(await retry("k")).toMatchObject({ type: "planning", request: again });
      expect(await retry("k")).toMatchObject({ type: "repeated" });
      expect(await retry("other")).toMatchObject({ type: "no plan" });

      const claim = (await store.claimRequest(request._id, "p2"))!;
      const plan = await store.completePlanning(claim, {
        plan: onePlan(),
        raw: null,
        origin,
        diagnostics: [],
      });
      expect(plan).toMatchObject({ version, status: "QUEUED", _id: claim.request.planId });
      expect((await store.listPlanHeadsOf("t1", [request._id])).map((one) => one.status)).toEqual(
        raw === null ? ["QUEUED"] : ["QUEUED", "INVALID"],
      );
      expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "EXECUTING", error: null });
    },
  );

  test("that a client retries is not executed if it was only to be planned, and can be cancelled and fail again", async () => {
    const request = await ask(false);
    const failed = { error: { code: "X", message: "no" }, diagnostics: [], raw: "{}", plan: null, origin };
    const fail = async () => store.failPlanning((await store.claimRequest(request._id, "p1"))!, failed);
    const retry = () => store.rerunPlan("t1", request._id, { from: null, autoExecute: true });
    await fail();
    await retry();
    await fail();
    expect(await retry()).toMatchObject({ request: { version: 3, autoExecute: false } });
    expect(await store.cancelPlanning("t1", request._id)).toMatchObject({ status: "CANCELLED" });
    expect(await store.claimRequest(request._id, "p2")).toBeNull();
  });

  test("that kills its planner five times ends the request", async () => {
    const request = await ask();
    for (let claims = 1; claims <= 5; claims += 1) {
      expect(await store.claimRequest(request._id, "doomed")).not.toBeNull();
      await store.takeFromDead({ declaresSilent: false });
    }
    expect(await store.claimRequest(request._id, "doomed")).toBeNull();
    expect(await store.getRequest("t1", request._id)).toMatchObject({ error: { code: "POISONED" } });
  });

  test("waits for a model that is away without a planner, for as long as allowed in all, and can be cancelled", async () => {
    const request = await ask();
    const error = { code: "MODEL_UNREACHABLE", message: "HTTP 500" };
    const away = { error, pauseMs: (tries: number) => tries - 1, requestedMs: 0, unreachableMs: 60_000 };
    const claimed = async () => (await store.claimRequest(request._id, "p1"))!;
    const postponed = async (more: Partial<ModelAway> = {}) =>
      store.postponePlanning(await claimed(), { ...away, ...more });

    // More often than a request may kill its planner.
    const waits: (ModelWait | null)[] = [];
    for (let tries = 1; tries <= 7; tries += 1) {
      waits.push(await postponed());
      await expect.poll(() => findDue(store.requestLeases, 5)).toEqual([request._id]);
    }
    const [first] = waits;
    expect(waits.map((wait) => wait?.tries)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (const wait of waits) expect(wait).toMatchObject({ error, since: first?.since, until: first?.until });
    expect(first!.until.getTime() - first!.since.getTime()).toBe(60_000);
    expect(await store.requestLeases.findHeld("p1")).toEqual([]);

    // Longer than the time that is left, and when no time is left.
    const claim = await claimed();
    expect(claim.request).toMatchObject({ claims: 1, planning: { wait: waits.at(-1) } });
    expect(await store.postponePlanning(claim, { ...away, requestedMs: 60_001 })).toBeNull();
    expect(await store.postponePlanning(claim, { ...away, unreachableMs: 1 })).toBeNull();
    const last = await store.postponePlanning(claim, { ...away, pauseMs: () => 3_600_000 });
    expect(last?.nextAttemptAt).toEqual(last?.until);
    expect(await store.claimRequest(request._id, "p1")).toBeNull();

    const cancelled = await store.cancelPlanning("t1", request._id);
    expect(cancelled).toMatchObject({ status: "CANCELLED", dueAt: null, planning: { wait: null } });
  });

  test("whose planners survived the loss of their leases continues, and keeps the answers of models", async () => {
    const request = await ask();
    for (let claims = 1; claims <= 7; claims += 1) {
      const claim = await store.claimRequest(request._id, "suspended");
      expect(claim?.epoch).toBe(claims);
      await store.takeFromDead({ declaresSilent: false });
      // Twice, as after a lost answer.
      await store.requestLeases.recordSurvived([{ id: request._id, epoch: claims }]);
      await store.requestLeases.recordSurvived([{ id: request._id, epoch: claims }]);
    }
    const claim = await store.claimRequest(request._id, "p1");
    expect(claim?.request).toMatchObject({ claims: 1, planning: { claimsOfWork: 8 } });
  });
});

describe("reading", () => {
  test("shows nothing to another tenant", async () => {
    const request = await ask();
    expect(await store.getRequest("t2", request._id)).toBeNull();
    expect(await store.queuePlan("t2", request.planId, request._id)).toBeNull();
    expect(await store.requestCancel("t2", request.planId, "client")).toBeNull();
    expect((await store.listRequests("t2", { first: 10 })).items).toEqual([]);
  });

  test("pages through requests, newest first, each once", async () => {
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) made.push((await ask())._id);
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.listRequests("t1", { first: 3, after });
      seen.push(...page.items.map((request) => request._id));
      after = page.cursor ?? undefined;
    } while (after !== undefined);
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(new Set(seen).size).toBe(7);
  });

  test.each(["", "x", "bnVsbA", Buffer.from('[1,{"$gt":""}]').toString("base64url")])(
    "refuses the cursor %j",
    async (after) => {
      await expect(store.listRequests("t1", { first: 3, after })).rejects.toBeInstanceOf(CursorInvalidError);
    },
  );
});

describe("the catalogue", () => {
  test("has the tools that each server published last, with unique names", async () => {
    const tool = (name: string, server: string) => ({ descriptor: { name, server }, digest: "d" });
    await store.publishTools("one", [tool("read", "one"), tool("old", "one")]);
    await store.publishTools("two", [tool("read", "two")]);
    await store.publishTools("one", [tool("read", "one"), tool("new", "one")]);
    expect((await store.toolCatalogue()).map(({ name }) => name)).toEqual(["new", "one/read", "two/read"]);
    await store.keepOnlyServers(["two"]);
    expect((await store.toolCatalogue()).map(({ name }) => name)).toEqual(["read"]);
  });
});
