/** Pages of steps: the same list for all readers and all sizes of pages. */
import type { StepRun } from "@planwright/engine";
import { type PlanId, parsePlan } from "@planwright/plan";
import {
  type ClientStore,
  CursorInvalidError,
  countSteps,
  countUnits,
  createStore,
  type ExecutionStore,
  isStepWanted,
  type Page,
  type PlanUnits,
  pageOfSteps,
  pageOfUnits,
  type StepFilter,
  type StepPage,
  type Store,
  stepCursor,
} from "@planwright/store";
import {
  createMemoryDatabase,
  createMemoryStore,
  type MemoryStore,
  type Reach,
} from "@planwright/store/memory";
import { listSteps, testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
const ITEMS = 40;
const PLAN = [
  { id: "first", tool: "read", arguments: {} },
  {
    id: "each",
    dependsOn: ["first"],
    forEach: {
      items: Array.from({ length: ITEMS }, (_, n) => n),
      as: "n",
      do: { tool: "read", arguments: {} },
    },
  },
  { id: "last", tool: "read", arguments: {}, dependsOn: ["each"] },
];

type AnyStore = Omit<ClientStore, "answerQuestions"> &
  Pick<ExecutionStore, "claimPlan" | "noteIntents" | "writeRecords" | "now">;

const url = testServers().mongodbUrl;
let store: Store;
let client: MongoClient;
let db: Db;
let planIds: PlanId[];

beforeAll(async () => {
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
  planIds = [await halfDone(store), await halfDone(store), await halfDone(store)];
});
afterAll(async () => {
  await client.close();
  await store.close();
});

/** A plan whose first step is completed, with a list in which every second item has failed. */
async function halfDone(into: AnyStore): Promise<PlanId> {
  const parsed = parsePlan(PLAN);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = parsed;
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { _id } = (await into.submitPlan(input)).plan;
  const claim = (await into.claimPlan(_id, "e1"))!;
  const error = { code: "TOOL_FAILED", message: "no", retryable: false };
  const done = { key: "first", stepId: "first", status: "COMPLETED" as const, attempts: 1, output: {} };
  const items = Array.from({ length: ITEMS }, (_, item) => ({
    key: `each[${item}]`,
    stepId: "each",
    item,
    attempts: 1,
    ...(item % 2 === 0
      ? { status: "COMPLETED" as const, output: item }
      : { status: "FAILED" as const, error }),
  }));
  await playRecords(into, claim, [done, ...items]);
  return _id;
}

type UnitStore = Pick<ClientStore, "readUnits">;

async function unitsIn(from: UnitStore, planId: PlanId): Promise<PlanUnits> {
  return (await from.readUnits(TENANT, planId))!;
}

const readAll = (from: UnitStore, ids: readonly PlanId[]) => Promise.all(ids.map((id) => unitsIn(from, id)));

type ReadPage = (page: StepPage) => Promise<Page<StepRun>>;

/** Keys of all pages of a list. */
async function allKeys(readPage: ReadPage, first: number, filter?: StepFilter): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const page = await readPage({ first, filter, after });
    expect(page.items.length).toBeLessThanOrEqual(first);
    keys.push(...page.items.map(({ key }) => key));
    after = page.cursor ?? undefined;
  } while (after !== undefined);
  return keys;
}

const readFrom =
  (from: UnitStore, planId: PlanId): ReadPage =>
  async (page) =>
    pageOfUnits(await unitsIn(from, planId), page);

const READERS: { name: string; open: () => Promise<ReadPage> }[] = [
  { name: "MongoDB", open: async () => readFrom(store, planIds[0]!) },
  {
    name: "the store in memory",
    async open() {
      const memory = createMemoryStore({ database: createMemoryDatabase(), owner: "api" });
      return readFrom(memory, await halfDone(memory));
    },
  },
  {
    name: "units in memory",
    async open() {
      const units = await store.listStepHeads(TENANT, planIds.slice(0, 1));
      return async (page) => pageOfSteps(units, page);
    },
  },
];

const items = (isWanted: (item: number) => boolean) =>
  Array.from({ length: ITEMS }, (_, item) => item)
    .filter(isWanted)
    .map((item) => `each[${item}]`);
const all = () => true;
const isOdd = (item: number) => item % 2 === 1;

const CASES: [StepFilter, string[]][] = [
  [{}, ["first", "each", ...items(all), "last"]],
  [{ items: false }, ["first", "each", "last"]],
  [{ items: true }, items(all)],
  [{ position: 1 }, ["each", ...items(all)]],
  [{ position: 1, items: true }, items(all)],
  [{ position: 1, items: false }, ["each"]],
  [{ position: 1, item: 7 }, ["each[7]"]],
  [{ position: 1, item: null }, ["each"]],
  [{ position: 0, item: 7 }, []],
  [{ position: 1, item: 7, status: ["COMPLETED"] }, []],
  [{ position: 2 }, ["last"]],
  [{ position: 9 }, []],
  [{ status: ["FAILED"] }, items(isOdd)],
  [{ status: ["PENDING", "COMPLETED"] }, ["first", "each", ...items((item) => !isOdd(item)), "last"]],
  [{ status: ["PENDING", "COMPLETED"], items: false }, ["first", "each", "last"]],
  [{ status: ["FAILED"], position: 0 }, []],
];

describe.each(READERS)("pages of steps, read by $name", ({ open }) => {
  test.each(CASES)("with %j have each matching unit once, in plan order", async (filter, keys) => {
    const readPage = await open();
    for (const first of [1, 3, 100]) expect(await allKeys(readPage, first, filter)).toEqual(keys);
  });

  test.each(["nonsense", "", stepCursor({ position: 2, item: null })])(
    "refuse %j, which is invalid or of the list of another step",
    async (after) => {
      const readPage = await open();
      const asked = readPage({ first: 1, after, filter: { position: 1 } });
      await expect(asked).rejects.toBeInstanceOf(CursorInvalidError);
    },
  );
});

test("counts of steps are equal to the lengths of their lists", async () => {
  const units = await store.listStepHeads(TENANT, planIds.slice(0, 1));
  for (const [filter, keys] of CASES) {
    for (const read of await readAll(store, planIds)) expect(countUnits(read, filter)).toBe(keys.length);
    expect(units.filter((unit) => isStepWanted(unit, filter))).toHaveLength(keys.length);
  }
});

test("steps are counted by status, without items", async () => {
  const { outline, plan } = await unitsIn(store, planIds[0]!);
  expect(countSteps(outline.steps, plan?.units)).toEqual({ COMPLETED: 1, PENDING: 2 });
});

/** A plan whose list is cancelled after 10 items: at once, or item by item. */
async function cancelled(into: MemoryStore, isAtOnce: boolean): Promise<PlanId> {
  const parsed = parsePlan(PLAN);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const input = {
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  };
  const { _id } = (await into.submitPlan(input)).plan;
  const claim = (await into.claimPlan(_id, "e1"))!;
  const item = (item: number) => ({ key: `each[${item}]`, stepId: "each", item, attempts: 0 });
  const begun = Array.from({ length: ITEMS }, (_, index) =>
    index < 10
      ? { ...item(index), status: "COMPLETED" as const, output: index }
      : { ...item(index), status: "PENDING" as const },
  );
  await playRecords(into, claim, begun);
  const error = { code: "CANCELLED", message: "stop", retryable: false };
  const rest = begun.slice(10).map((record) => ({ ...record, status: "CANCELLED" as const, error }));
  for (const records of isAtOnce ? [rest] : rest.map((record) => [record]))
    await into.writeRecords(claim, records, []);
  const step = { stepId: "each", key: "each", attempts: 0, status: "CANCELLED" as const, error };
  await into.writeRecords(claim, [step], []);
  return _id;
}

test.each(STORES)(
  "items that end by one event read like items that end by an event each ($name)",
  async ({ open }) => {
    const { store: opened, close } = await open();
    const shown = async (isAtOnce: boolean) => {
      const planId = await cancelled(opened, isAtOnce);
      const steps = await listSteps(opened, TENANT, [planId]);
      const readPage = readFrom(opened, planId);
      return {
        // Ids, times and numbers of entries differ.
        steps: steps.map(
          ({ key, status, error, output, attempts, effect, warnings, waitReason, finishedAt }) => ({
            key,
            status,
            error,
            output,
            effect,
            warnings,
            waitReason,
            attempts: attempts.map(({ attempt, outcome }) => ({ attempt, outcome })),
            hasEnded: finishedAt !== null,
          }),
        ),
        keys: await allKeys(readPage, 7, { status: ["CANCELLED"] }),
        count: countUnits(await unitsIn(opened, planId), { status: ["CANCELLED"] }),
      };
    };
    const together = await shown(true);
    expect(together).toEqual(await shown(false));
    expect(together.count).toBe(ITEMS - 10 + 1);
    await close();
  },
);

test("the units of another tenant's plan are not read", async () => {
  expect(await Promise.all(planIds.map((id) => store.readUnits("t2", id)))).toEqual(planIds.map(() => null));
});

interface Profiled {
  ns: string;
  planSummary: string;
  docsExamined: number;
  keysExamined: number;
  nreturned: number;
  hasSortStage?: boolean;
}

/** The operations of MongoDB, from its profiler. */
async function profiled(run: () => Promise<unknown>): Promise<Profiled[]> {
  await db.command({ profile: 2 });
  await run();
  await db.command({ profile: 0 });
  const profile = db.collection<Profiled>("system.profile");
  const reads = await profile
    .find({ "command.profile": { $exists: false } })
    .sort({ ts: 1 })
    .toArray();
  await profile.drop();
  return reads;
}

/** Only by the ids of entries, one range for each request. */
const BY_ID = expect.stringMatching(/^(IXSCAN \{ _id: 1 \}(, )?)+$/);

test("units are one read of later entries, for one plan and for three", async () => {
  for (const ids of [planIds.slice(0, 1), planIds]) {
    await readAll(store, ids);
    const reads = await profiled(() => readAll(store, ids));
    expect(reads).toMatchObject([{ planSummary: BY_ID, docsExamined: 0, nreturned: 0 }]);
    // Only the end of each journal, no earlier entry.
    for (const { keysExamined } of reads) expect(keysExamined).toBeLessThanOrEqual(2 * ids.length);
  }
});

test("the first read of a process is two reads by id: of the plans, and of all entries of their journals", async () => {
  const fresh = await createStore({ url });
  const reads = await profiled(() => readAll(fresh, planIds));
  await fresh.close();
  const ofStore = reads.filter(({ ns }) => /\.(plans|journal)$/.test(ns));
  expect(ofStore).toHaveLength(2);
  for (const { planSummary, docsExamined, nreturned, hasSortStage } of ofStore) {
    expect(planSummary).toEqual(BY_ID);
    expect(hasSortStage ?? false).toBe(false);
    expect(docsExamined).toBe(nreturned);
  }
});

test("clients that ask while a request is being folded share one read of the entries after that", async () => {
  const database = createMemoryDatabase();
  const planId = await halfDone(createMemoryStore({ database, owner: "worker" }));
  let goOn = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let reads = 0;
  const counted: Reach = async ({ name, apply }) => {
    if (name === "journal.readTails") reads += 1;
    if (name === "journal.readTails" && reads === 1) await isHeld;
    return apply();
  };
  const api = createMemoryStore({ database, owner: "api", reach: counted });
  const readings = [unitsIn(api, planId)];
  await expect.poll(() => reads).toBe(1);
  while (readings.length < 4) {
    readings.push(unitsIn(api, planId));
    // By then each of them waits for the journal.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(reads).toBe(1);
  goOn();
  const [first, ...others] = await Promise.all(readings);
  expect(others).toEqual([first, first, first]);
  expect(reads).toBe(2);
});
