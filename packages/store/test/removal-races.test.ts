/**
 * Removals of requests that ended long ago, beside changes of the same requests. Each pair is tried at every point
 * where one process waits, or dies, between two of its operations.
 */
import { setTimeout as delay } from "node:timers/promises";
import { emptyRequest, fold, type JournalEntry } from "@planwright/engine";
import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { createStore } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { findDue, testAndProof, testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
const DAY_MS = 86_400_000;
/** After this time another process takes work from a dead worker. */
const LATER_MS = 700_000;
const COLLECTIONS = ["requests", "plans", "journal", "outputs", "modelCalls", "outbox", "removals"];

interface Ended {
  requestId: RequestId;
  planId: PlanId;
}

/** A plan whose step `a` failed and whose step `b` is in doubt, or failed too. */
async function endedPlan(store: MemoryStore, hasDoubt: boolean): Promise<Ended> {
  const parsed = parsePlan(["a", "b"].map((id) => ({ id, tool: id, arguments: {} })));
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: TENANT, query: null, raw: "", diagnostics: [], autoExecute: true };
  const { request, plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  const claim = await store.claimPlan(plan._id, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  const error = { code: "TOOL_ERROR", message: "refused", retryable: false };
  const b = hasDoubt ? { status: "IN_DOUBT" as const, attempts: 1 } : { status: "FAILED" as const, error };
  await playRecords(store, claim, [
    { key: "a", stepId: "a", status: "FAILED", attempts: 1, error },
    { key: "b", stepId: "b", attempts: 1, ...b },
  ]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
  return { requestId: request._id, planId: plan._id };
}

/** A change of a request that has ended; its result says whether it was acknowledged. */
interface Change {
  name: string;
  hasDoubt: boolean;
  act: (store: MemoryStore, of: Ended) => Promise<boolean>;
}

const CHANGES: readonly Change[] = [
  {
    name: "rerun",
    hasDoubt: false,
    act: async (store, { requestId }) => {
      const options = { from: "a", autoExecute: true, acceptRepeat: ["a", "b"] };
      return (await store.rerunPlan(TENANT, requestId, options)).type === "rerun";
    },
  },
  {
    name: "replan",
    hasDoubt: false,
    act: async (store, { requestId }) =>
      (await store.requestReplan(TENANT, requestId, { note: null, execute: true })).type === "replanning",
  },
  {
    name: "decision on a call in doubt",
    hasDoubt: true,
    act: async (store, { planId }) => {
      const decisions = [{ key: "b", resolution: { type: "completed" as const, output: 1 } }];
      return (await store.resolveUnits(TENANT, planId, { by: "op", decisions })).type === "recorded";
    },
  },
];

/** A database, and processes that wait or die before one of their operations. */
function createWorld() {
  let nowMs = Date.UTC(2026, 0, 1);
  const database = createMemoryDatabase(() => nowMs);
  let processes = 0;

  function open(at = Number.POSITIVE_INFINITY, between?: () => Promise<unknown>, lost?: string) {
    processes += 1;
    let operations = 0;
    return createMemoryStore({
      database,
      owner: `process ${processes}`,
      monotonic: () => nowMs,
      wall: () => nowMs,
      sleep: async () => undefined,
      reach: async ({ name, apply }) => {
        operations += 1;
        if (operations === at) await between?.();
        if (name === lost) return undefined as never;
        // A dead process gets no answer.
        return operations >= at && !between ? new Promise(() => undefined) : apply();
      },
    });
  }
  return {
    database,
    open,
    later: (ms: number) => void (nowMs += ms),
    remove: (store: MemoryStore) =>
      store.removeEnded({ endedBefore: new Date(nowMs - 30 * DAY_MS), limit: 10 }),
    left: () => COLLECTIONS.filter((name) => database.find(name, {}).length > 0),
  };
}

type World = ReturnType<typeof createWorld>;

async function prepare({ hasDoubt }: Change): Promise<{ world: World; of: Ended; before: number }> {
  const world = createWorld();
  const of = await endedPlan(world.open(), hasDoubt);
  world.later(31 * DAY_MS);
  return { world, of, before: world.database.find("journal", {}).length };
}

/** Everything that an acknowledged change stored is there; or nothing of the request is. */
function expectKeptOrGone({ database, left }: World, { requestId }: Ended, isAcknowledged: boolean): void {
  const [request] = database.find("requests", { _id: requestId });
  if (!request) {
    expect({ isAcknowledged, left: left() }).toEqual({ isAcknowledged: false, left: [] });
    return;
  }
  const entries = database
    .find("journal", { requestId })
    .map(({ _id, ...entry }) => entry as JournalEntry)
    .toSorted((a, b) => a.seq - b.seq);
  const state = fold(emptyRequest(requestId), entries);
  const plans = database.find("plans", { requestId });
  expect(state.isRemoved).toBeUndefined();
  expect(plans.map(({ _id }) => _id)).toContain(request["planId"]);
  for (const { version } of state.plans.values())
    expect(plans.map((plan): unknown => plan["version"])).toContain(version);
}

/** Other processes do what is left to do, and the request gets old again unless it is open. */
async function settle(world: World): Promise<void> {
  world.later(LATER_MS);
  const store = world.open();
  await store.reconcileRequests();
  for (const planId of await findDue(store.planLeases, 10)) {
    const [plan] = world.database.find("plans", { _id: planId });
    const isKept = world.database.find("requests", { _id: plan?.["requestId"] }).length > 0;
    // A version of a removed request is never executed.
    if (!isKept) expect(await store.claimPlan(planId, "e2")).toBeNull();
  }
  await world.remove(store);
}

/** More operations than any action here has. */
const MAX_OPERATIONS = 25;
const POINTS = Array.from({ length: MAX_OPERATIONS }, (_, index) => index + 1);

// A rerun takes most operations. `npm run proof` tries the other changes.
for (const { cases, options } of testAndProof(CHANGES, ({ name }) => name, ["rerun"])) {
  test.each(cases)(
    "a $name that waits while the request is removed is kept, or refused and gone",
    options,
    async (change) => {
      for (const at of POINTS) {
        const { world, of } = await prepare(change);
        const slow = world.open(at, () => world.remove(world.open()));
        const isAcknowledged = await change.act(slow, of);
        expectKeptOrGone(world, of, isAcknowledged);
      }
    },
  );

  test.each(cases)("a removal that waits during a $name removes all, or nothing", options, async (change) => {
    for (const at of POINTS) {
      const { world, of, before } = await prepare(change);
      let isAcknowledged = false;
      const slow = world.open(at, async () => {
        isAcknowledged = await change.act(world.open(), of);
      });
      await world.remove(slow);
      expectKeptOrGone(world, of, isAcknowledged);
      if (isAcknowledged) expect(world.database.find("journal", {}).length).toBeGreaterThan(before);
    }
  });

  test.each(cases)(
    "a removal without its entry would lose an acknowledged $name",
    options,
    async (change) => {
      let vanished = 0;
      for (const at of POINTS) {
        const { world, of } = await prepare(change);
        let isAcknowledged = false;
        const act = async (): Promise<void> => {
          isAcknowledged = await change.act(world.open(), of);
        };
        await world.remove(world.open(at, act, "journal.insertOne"));
        const isThere = world.database.find("requests", { _id: of.requestId }).length > 0;
        if (isAcknowledged && !isThere) vanished += 1;
      }
      expect(vanished).toBeGreaterThan(0);
    },
  );

  test.each(cases)(
    "after a $name died at any point, the request is complete or gone",
    options,
    async (change) => {
      for (const at of POINTS) {
        for (const isRemovedFirst of [true, false]) {
          const { world, of } = await prepare(change);
          // Dead from this operation on, before which the request is removed or not.
          let hasDied = false;
          const dying = world.open(at, async () => {
            hasDied = true;
            if (isRemovedFirst) await world.remove(world.open());
            return new Promise(() => undefined);
          });
          const done = await Promise.race([change.act(dying, of), delay(1).then(() => false)]);
          await settle(world);
          if (hasDied) await settle(world);
          expectKeptOrGone(world, of, done);
        }
      }
    },
  );

  test.each(cases)(
    "a removal that died at any point before a $name is completed by the next one",
    options,
    async (change) => {
      for (const at of POINTS) {
        const { world, of } = await prepare(change);
        void world.remove(world.open(at));
        await delay(1);
        const isAcknowledged = await change.act(world.open(), of);
        await settle(world);
        expectKeptOrGone(world, of, isAcknowledged);
        if (!isAcknowledged) expect(world.left()).toEqual([]);
      }
    },
  );
}

test("no acknowledged rerun vanishes when requests are removed and rerun at the same time", async () => {
  const url = testServers().mongodbUrl;
  const client = await MongoClient.connect(url);
  const stores = await Promise.all([1, 2, 3].map(() => createStore({ url })));
  const [first, second, third] = stores;
  if (!first || !second || !third) throw new TypeError("no stores");
  try {
    const ended: Ended[] = [];
    for (let index = 0; index < 60; index++) ended.push(await endedPlan(first, false));
    let isRacing = true;
    const removing = [second, third].map(async (store) => {
      while (isRacing) await store.removeEnded({ endedBefore: new Date(Date.now() + DAY_MS), limit: 4 });
    });
    const options = { from: "a", autoExecute: true, acceptRepeat: ["a", "b"] };
    // From the newest: removals begin with the oldest.
    const answers = await Promise.all(
      ended.toReversed().map(async ({ requestId }, index) => {
        await delay(index * 4);
        const { type } = await first.rerunPlan(TENANT, requestId, options);
        return { requestId, type };
      }),
    );
    isRacing = false;
    await Promise.all(removing);
    const db = client.db();
    const of = (name: string) => db.collection<{ _id: string; requestId: string }>(name);
    const kept = answers.filter(({ type }) => type === "rerun").map(({ requestId }) => requestId);
    const gone = answers.filter(({ type }) => type === "unknown").map(({ requestId }) => requestId);
    expect(kept.length + gone.length).toBe(ended.length);
    expect([kept.length, gone.length].every((count) => count > 0)).toBe(true);
    expect(await of("requests").countDocuments({ _id: { $in: kept }, version: 2 } as never)).toBe(
      kept.length,
    );
    expect(await of("plans").countDocuments({ requestId: { $in: kept } })).toBe(2 * kept.length);
    for (const name of ["plans", "journal", "outbox"])
      expect(await of(name).countDocuments({ requestId: { $in: gone } })).toBe(0);
    expect(await of("requests").countDocuments({ _id: { $in: gone } })).toBe(0);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await client.close();
  }
});
