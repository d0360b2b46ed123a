/**
 * Changes by clients and entries of planners, interrupted after each of their operations on the database. A change
 * is done completely or not at all. What a planner had begun is continued by the next one.
 */
import { emptyRequest, type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import { parsePlan } from "@planwright/plan";
import { toFreeQuestions } from "@planwright/reading";
import {
  type PlanDocument,
  type PlanningClaim,
  type RequestDocument,
  RequestLagsError,
} from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { describe, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
const ORIGIN = { kind: "model" as const, model: "openai:x" };
const REFUSED = { code: "NOT_UNDERSTOOD", message: "please rephrase" };
/** More operations than any process here has. */
const MAX_OPERATIONS = 1_000;

function plan(...ids: string[]) {
  const parsed = parsePlan(ids.map((id) => ({ id, tool: id, arguments: {} })));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const RESULT = { plan: plan("a"), raw: "{}", origin: ORIGIN, diagnostics: [] };

/** A database, and processes that use it until they die. */
function createWorld() {
  let nowMs = Date.UTC(2026, 0, 1);
  const database = createMemoryDatabase(() => nowMs);
  let processes = 0;

  function open() {
    processes += 1;
    let operations = 0;
    let last = Number.POSITIVE_INFINITY;
    let between: { name: string; act: () => Promise<unknown> } | undefined;
    const store = createMemoryStore({
      database,
      owner: `process ${processes}`,
      monotonic: () => nowMs,
      wall: () => nowMs,
      sleep: async () => undefined,
      reach: async ({ name, apply }) => {
        if (operations > MAX_OPERATIONS) throw new TypeError(`Endless loop: ${name} again`);
        if (name === between?.name) {
          const { act } = between;
          between = undefined;
          await act();
        }
        // A dead process gets no answer.
        if (operations >= last) return new Promise(() => undefined);
        operations += 1;
        return apply();
      },
    });
    return {
      store,
      operations: () => operations,
      /** It dies after this number of further operations. */
      diesAfter: (more: number) => void (last = operations + more),
      isDead: () => operations >= last,
      /** Calls `act` before its next operation of this name. */
      before: (name: string, act: () => Promise<unknown>) => void (between = { name, act }),
    };
  }

  return {
    database,
    open,
    later: (ms: number) => void (nowMs += ms),
    request: (id: string) => database.find("requests", { _id: id })[0] as unknown as RequestDocument,
    plans: (requestId: string) => database.find("plans", { requestId }) as unknown as PlanDocument[],
    state(requestId: string): FoldedRequest {
      const entries = database
        .find("journal", { requestId })
        .map(({ _id, ...entry }) => entry as JournalEntry)
        .toSorted((a, b) => a.seq - b.seq);
      return fold(emptyRequest(requestId), entries);
    },
  };
}

type World = ReturnType<typeof createWorld>;

const AWAY = { error: REFUSED, pauseMs: () => 60_000, requestedMs: 0, unreachableMs: 600_000 };

/** An action of a client or a planner, with its preparation. */
interface Action {
  name: string;
  /** Makes a request for the action. */
  before: (store: MemoryStore) => Promise<RequestDocument["_id"]>;
  /** The action that is interrupted. */
  act: (store: MemoryStore, id: RequestDocument["_id"], claim: PlanningClaim | null) => Promise<unknown>;
  /**
   * True: a planner does it under a claim, and another one repeats it if it was not appended. Default: a
   * client does it, and repeats its call.
   */
  isByPlanner?: boolean;
  /** The request after the action. */
  result: Partial<RequestDocument>;
}

async function claimed(store: MemoryStore, id: RequestDocument["_id"]): Promise<PlanningClaim> {
  const claim = await store.claimRequest(id, "planner");
  if (!claim) throw new TypeError("not claimed");
  return claim;
}

const asked = async (store: MemoryStore, more: object = {}): Promise<RequestDocument["_id"]> =>
  (await store.createRequest({ tenant: TENANT, query: "do a", autoExecute: false, ...more }))._id;

async function planned(store: MemoryStore, more: object = {}): Promise<RequestDocument["_id"]> {
  const id = await asked(store, { autoExecute: true, ...more });
  await store.completePlanning(await claimed(store, id), RESULT);
  return id;
}

async function ended(store: MemoryStore, status: "COMPLETED" | "FAILED", more: object = {}) {
  const id = await planned(store, more);
  await run(store, id, status);
  return id;
}

/** Runs the current plan of a request to its end. */
async function run(store: MemoryStore, id: RequestDocument["_id"], status: "COMPLETED" | "FAILED") {
  const { planId } = (await store.getRequest(TENANT, id))!;
  const claim = await store.claimPlan(planId, "executor");
  if (!claim) throw new TypeError("not claimed");
  await playRecords(store, claim, [{ key: "a", stepId: "a", status, attempts: 1 }]);
  await store.finishPlan(claim, { type: "finish", status, outputs: {} });
}

async function asking(store: MemoryStore): Promise<RequestDocument["_id"]> {
  const id = await asked(store);
  const questions = toFreeQuestions(["Who?"], 0);
  await store.askQuestions(await claimed(store, id), { questions, draft: null });
  return id;
}

/** @param raw - the answer of the model; null: it gave none */
async function unplanned(store: MemoryStore, raw: string | null): Promise<RequestDocument["_id"]> {
  const id = await asked(store);
  await store.failPlanning(await claimed(store, id), { ...RESULT, raw, plan: null, error: REFUSED });
  return id;
}

const failed = (store: MemoryStore) => ended(store, "FAILED");
const replanned = (store: MemoryStore) => ended(store, "FAILED", { maxReplans: 1 });
const wantingAnswer = (store: MemoryStore) => ended(store, "COMPLETED", { wantsAnswer: true });
const key = { idempotency: { key: "k", payloadHash: "p" } };

const ACTIONS: Action[] = [
  {
    name: "a first plan",
    before: asked,
    act: (store, _, claim) => store.completePlanning(claim!, RESULT),
    isByPlanner: true,
    result: { status: "READY", version: 1 },
  },
  {
    name: "a first plan that can never run",
    before: asked,
    act: (store, _, claim) => store.failPlanning(claim!, { ...RESULT, plan: null, error: REFUSED }),
    isByPlanner: true,
    result: { status: "FAILED", error: REFUSED },
  },
  {
    name: "an error instead of a first plan",
    before: asked,
    act: (store, _, claim) =>
      store.failPlanning(claim!, { ...RESULT, raw: null, plan: null, error: REFUSED }),
    isByPlanner: true,
    result: { status: "FAILED", error: REFUSED },
  },
  {
    name: "a wait for a model that is away",
    before: asked,
    act: (store, _, claim) => store.postponePlanning(claim!, AWAY),
    isByPlanner: true,
    result: { status: "PLANNING", claims: 0, lease: null },
  },
  {
    name: "questions",
    before: asked,
    act: (store, _, claim) =>
      store.askQuestions(claim!, { questions: toFreeQuestions(["Who?"], 0), draft: null }),
    isByPlanner: true,
    result: { status: "NEEDS_INPUT", questionsAsked: 1 },
  },
  {
    name: "another version after a failure",
    before: replanned,
    act: (store, _, claim) => store.completeReplan(claim!, { ...RESULT, plan: plan("b") }),
    isByPlanner: true,
    result: { status: "EXECUTING", version: 2 },
  },
  {
    name: "an error instead of another version",
    before: replanned,
    act: (store, _, claim) => store.failReplan(claim!, { error: REFUSED, diagnostics: [] }),
    isByPlanner: true,
    result: { status: "FAILED", version: 1, error: REFUSED },
  },
  {
    name: "an answer in words",
    before: wantingAnswer,
    act: (store, _, claim) => store.completeAnswer(claim!, "All done."),
    isByPlanner: true,
    result: { status: "COMPLETED", answer: "All done." },
  },
  {
    name: "answers",
    before: asking,
    act: (store, id) =>
      store.answerQuestions(TENANT, id, {
        answers: [{ questionId: "q1", question: "Who?", answer: "Me", gives: null }],
        discardsDraft: false,
      }),
    result: { status: "PLANNING", questions: [] },
  },
  {
    name: "a rerun under a key",
    before: failed,
    act: (store, id) => store.rerunPlan(TENANT, id, { from: null, autoExecute: true, ...key }),
    result: { status: "EXECUTING", version: 2 },
  },
  {
    name: "another try of a sentence that got no plan",
    before: (store) => unplanned(store, null),
    act: (store, id) => store.rerunPlan(TENANT, id, { from: null, autoExecute: true, ...key }),
    result: { status: "PLANNING", version: 1, error: null },
  },
  {
    name: "another try of a sentence that got a plan that can never run",
    before: (store) => unplanned(store, "no"),
    act: (store, id) => store.rerunPlan(TENANT, id, { from: null, autoExecute: true, ...key }),
    result: { status: "PLANNING", version: 2, error: null },
  },
  {
    name: "a rerun of a given version",
    before: failed,
    act: (store, id) => store.rerunPlan(TENANT, id, { from: null, autoExecute: true, fromVersion: 1 }),
    result: { status: "EXECUTING", version: 2 },
  },
  {
    name: "an amendment of a failed plan",
    before: failed,
    act: (store, id) =>
      store.amendPlan(TENANT, id, { plan: plan("b"), raw: "", diagnostics: [], autoExecute: true, ...key }),
    result: { status: "EXECUTING", version: 2 },
  },
  {
    name: "an amendment of a plan that was not started",
    before: (store) => planned(store, { autoExecute: false }),
    act: (store, id) =>
      store.amendPlan(TENANT, id, { plan: plan("b"), raw: "", diagnostics: [], autoExecute: false, ...key }),
    result: { status: "READY", version: 2 },
  },
  {
    name: "the start of a plan",
    before: (store) => planned(store, { autoExecute: false }),
    async act(store, id) {
      const request = await store.getRequest(TENANT, id);
      return store.queuePlan(TENANT, request!.planId, id);
    },
    result: { status: "EXECUTING", version: 1 },
  },
  {
    name: "the end of a plan that was not started",
    before: (store) => planned(store, { autoExecute: false }),
    async act(store, id) {
      const request = await store.getRequest(TENANT, id);
      return store.requestCancel(TENANT, request!.planId, "client");
    },
    result: { status: "CANCELLED", version: 1 },
  },
  {
    name: "a replan under a key",
    before: failed,
    act: (store, id) => store.requestReplan(TENANT, id, { note: null, execute: true, ...key }),
    result: { status: "PLANNING", version: 1 },
  },
  {
    name: "the end of planning",
    before: asked,
    act: (store, id) => store.cancelPlanning(TENANT, id),
    result: { status: "CANCELLED" },
  },
  {
    name: "the start of a plan that is being made",
    before: asked,
    async act(store, id) {
      const request = await store.getRequest(TENANT, id);
      return store.queuePlan(TENANT, request!.planId, id);
    },
    result: { status: "PLANNING", autoExecute: true },
  },
];

/** A new world with the prepared request, for each interruption. */
async function prepared({ before, isByPlanner = false }: Action) {
  const world = createWorld();
  const id = await before(world.open().store);
  const process = world.open();
  const claim = isByPlanner ? await claimed(process.store, id) : null;
  return { world, id, process, claim };
}

/** Number of operations of an action that is not interrupted. */
async function countOperations(action: Action): Promise<number> {
  const { process, id, claim } = await prepared(action);
  const before = process.operations();
  await action.act(process.store, id, claim);
  return process.operations() - before;
}

/** Another process continues: it repeats the client's call, or continues the planning. */
async function continueElsewhere(
  { act, isByPlanner = false }: Action,
  world: World,
  id: RequestDocument["_id"],
) {
  const { store } = world.open();
  if (!isByPlanner) return act(store, id, null);
  await store.takeFromDead({ declaresSilent: true });
  const claim = await store.claimRequest(id, "another planner");
  return claim ? act(store, id, claim) : undefined;
}

/** Checks that the action is complete. */
function expectComplete(world: World, id: RequestDocument["_id"], { result }: Pick<Action, "result">): void {
  const request = world.request(id);
  expect(request).toMatchObject(result);
  const state = world.state(id);
  const stored = world.plans(id).toSorted((a, b) => a.version - b.version);
  // Each version in the journal is stored once, and no other one.
  expect(stored.map(({ _id, version }) => [_id, version])).toEqual(
    [...state.plans.values()].map(({ planId, version }) => [planId, version]),
  );
  const current = stored.find(({ version }) => version === request.version);
  // A version has an id before it is planned, and is not stored when its planning fails.
  if (current) expect(current._id).toBe(request.planId);
  else
    expect(stored.map(({ version }) => version)).toEqual(request.version === 1 ? [] : [request.version - 1]);
  if (request.status !== "PLANNING") expect(request).toMatchObject({ lease: null, dueAt: null });
}

describe.each(ACTIONS)("$name", (action) => {
  test("is complete when another process continues, after any interruption", async () => {
    const operations = await countOperations(action);
    expect(operations).toBeGreaterThan(1);
    for (let cut = 0; cut <= operations; cut++) {
      const { world, id, process, claim } = await prepared(action);
      process.diesAfter(cut);
      void action.act(process.store, id, claim);
      await expect.poll(() => process.isDead(), { interval: 1 }).toBe(true);
      await turnOfTheLoop();
      await continueElsewhere(action, world, id);
      expectComplete(world, id, action);
    }
  });

  test("is done completely or not at all, when no client repeats the call", async () => {
    const operations = await countOperations(action);
    for (let cut = 0; cut <= operations; cut++) {
      const { world, id, process, claim } = await prepared(action);
      const before = [world.request(id), world.plans(id)];
      const seq = world.state(id).seq;
      process.diesAfter(cut);
      void action.act(process.store, id, claim);
      await expect.poll(() => process.isDead(), { interval: 1 }).toBe(true);
      await turnOfTheLoop();
      const isAppended = world.state(id).seq > seq;
      if (!isAppended) expect([world.request(id), world.plans(id)]).toEqual(before);
      else if (!action.isByPlanner) expectComplete(world, id, action);
    }
  });
});

const AMENDED = { plan: plan("b"), raw: "", diagnostics: [], autoExecute: true };

describe("decisions during other changes", () => {
  test.each([
    {
      name: "a rerun",
      act: (store: MemoryStore, id: RequestDocument["_id"]) =>
        store.rerunPlan(TENANT, id, { from: null, autoExecute: true }),
    },
    {
      name: "a replan",
      act: (store: MemoryStore, id: RequestDocument["_id"]) =>
        store.requestReplan(TENANT, id, { note: null, execute: true }),
    },
    {
      name: "an amendment",
      act: (store: MemoryStore, id: RequestDocument["_id"]) => store.amendPlan(TENANT, id, AMENDED),
    },
  ])("$name succeeds for a plan that ends before it is read", async ({ act }) => {
    const world = createWorld();
    const { store } = world.open();
    const id = await planned(store);
    const process = world.open();
    process.before("plans.findOne", () => run(store, id, "FAILED"));
    expect((await act(process.store, id))?.type).toMatch(/^(rerun|replanning|amended)$/);
  });

  test.each([
    {
      name: "a rerun",
      act: (store: MemoryStore, id: RequestDocument["_id"]) =>
        store.rerunPlan(TENANT, id, { from: null, autoExecute: true }),
    },
    {
      name: "an amendment",
      act: (store: MemoryStore, id: RequestDocument["_id"]) => store.amendPlan(TENANT, id, AMENDED),
    },
  ])("$name is refused when a replan was asked for before the plan is read", async ({ act }) => {
    const world = createWorld();
    const { store } = world.open();
    const id = await failed(store);
    const process = world.open();
    process.before("plans.findOne", () => store.requestReplan(TENANT, id, { note: null, execute: true }));
    expect(await act(process.store, id)).toMatchObject({ type: "no plan", request: { status: "PLANNING" } });
  });

  test("a plan that is stored just before it is read is started", async () => {
    const world = createWorld();
    const { store } = world.open();
    const id = await asked(store);
    const claim = await claimed(store, id);
    const process = world.open();
    process.before("plans.findOne", () => store.completePlanning(claim, RESULT));
    const { planId } = world.request(id);
    expect(await process.store.queuePlan(TENANT, planId, id)).toMatchObject({ status: "QUEUED" });
  });
});

async function turnOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("a change of a request whose document keeps lagging is refused after all tries", async () => {
  const world = createWorld();
  const { store } = world.open();
  const id = await planned(store, { autoExecute: false });
  // No owner writes this document any more.
  world.database.update("requests", { _id: id }, { set: { status: "COMPLETED" }, isPipeline: false });
  await expect(store.queuePlan(TENANT, world.request(id).planId, id)).rejects.toThrow(RequestLagsError);
  expect(world.plans(id)).toMatchObject([{ status: "READY" }]);
});
