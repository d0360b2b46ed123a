import type { JournalEntry, JournalEvent, Outcome } from "@planwright/engine";
import {
  ENDED_REQUEST_STATUSES,
  type ForEach,
  type HeldJson,
  isForEachStep,
  isJsonObject,
  type Step,
  toolOfStep,
  valueOfHeld,
} from "@planwright/plan";
import type { HeartbeatOptions, Liveness } from "@planwright/runtime";
import {
  type EntryLog,
  type ExecutionStore,
  entryIdOf,
  type Place,
  type PlanClaim,
  type Repeat,
  type RetentionStore,
  type UnitRecord,
} from "@planwright/store";
import {
  createMemoryDatabase,
  createMemoryStore,
  type GroupedWrite,
  type MemoryDatabase,
  type MemoryStore,
  type Reach,
} from "@planwright/store/memory";
import type { ToolCall, ToolClients } from "@planwright/tools";
import type { OutputMemory } from "../../../../services/executor/src/outputs/output-memory.ts";
import type { InvariantName } from "./checker/invariants.ts";
import { BATCH_PARAM, TOOL_FACTS } from "./world/catalogue.ts";
import type { WorldSettings } from "./world/settings.ts";

type Tools = Pick<ToolClients, "callTool">;

/** A fault that is planted on purpose, at the ports or in the store. The checker has to find it. */
export interface Mutant {
  /** Its name on the command line. */
  name: string;
  /** The invariants that it breaks: the first violation must be of one of these. */
  violates: readonly [InvariantName, ...InvariantName[]];
  /**
   * Where the search for it begins: a little before a seed that shows it, for a rare fault. Default: 1. It
   * depends on the random values and on this world: when either draws differently, it has to be searched for
   * again (`npm run simulate -- --mutant NAME`).
   */
  firstSeed?: number;
  /** Settings of the worlds in which it is searched for, where those of the seeds hardly show it. */
  settings?: Partial<WorldSettings>;
  /** Changes grouped writes before they reach the database. */
  rewrite?: (write: GroupedWrite) => GroupedWrite;
  /** Wraps the journal log of the executor. */
  log?: (log: EntryLog) => EntryLog;
  /** Wraps the store of the executor. */
  store?: (store: ExecutionStore) => ExecutionStore;
  /** Wraps the store of the API. */
  clientStore?: (store: MemoryStore, database: { database: MemoryDatabase; reach: Reach }) => MemoryStore;
  /** Wraps the places that executors of the API's process give to plans that are about to be stored. */
  place?: (place: Place) => Place;
  /** Wraps the connection of the API to the database. */
  clientReach?: (reach: Reach) => Reach;
  /** Wraps the memory for outputs of the executor. */
  outputMemory?: (memory: OutputMemory) => OutputMemory;
  /** Wraps the tools of the executor. */
  tools?: (tools: Tools, id: () => string) => Tools;
  /** Replaces the removal of requests that ended. */
  retention?: (access: { database: MemoryDatabase; reach: Reach }) => RetentionStore;
  /** Wraps the liveness of the executor. */
  liveness?: (liveness: Liveness) => Liveness;
  /** Wraps the store of the workers' heartbeats. */
  workers?: (workers: HeartbeatOptions["workers"]) => HeartbeatOptions["workers"];
  /** Grouped writes use the local clock instead of the database's. */
  hasLocalTime?: boolean;
  hasNoSweeper?: boolean;
}

export function without(
  condition: GroupedWrite["condition"],
  fields: readonly string[],
): GroupedWrite["condition"] {
  return Object.fromEntries(Object.entries(condition).filter(([field]) => !fields.includes(field)));
}

/** The steps in an order in which other steps overtake a barrier. */
export function barriersLast(steps: readonly Step[]): Step[] {
  const isBarrier = (step: Step) => TOOL_FACTS.get(toolOfStep(step))?.isBarrier === true;
  return steps.toSorted((a, b) => Number(isBarrier(a)) - Number(isBarrier(b)));
}

/** When the seq of an entry is taken, the entry gets the next free one. */
export function withoutFence(log: EntryLog): EntryLog {
  return {
    ...log,
    async insert(entries, following) {
      for (let left = entries; left.length > 0; ) {
        const taken = await log.insert(left, following);
        const isRefused = (entry: JournalEntry) => {
          const existing = taken.get(entryIdOf(entry));
          return existing !== undefined && existing.writeId !== entry.writeId;
        };
        left = left.filter(isRefused).map((entry) => ({ ...entry, seq: entry.seq + 1 }));
      }
      return new Map();
    },
  };
}

export function withoutEvents(entry: JournalEntry, type: JournalEvent["type"]): JournalEntry {
  return { ...entry, events: entry.events.filter((event) => event.type !== type) };
}

/** Changes the outcomes that the executor receives. */
export function withOutcomes(tools: Tools, change: (outcome: Outcome) => Outcome): Tools {
  return { callTool: async (call) => change(await tools.callTool(call)) };
}

/** True for a call whose batch parameter has one item. */
export function hasBatchOfOne({ arguments: args }: Pick<ToolCall, "arguments">): boolean {
  const items = args instanceof Uint8Array ? undefined : args[BATCH_PARAM];
  return Array.isArray(items) && items.length === 1;
}

/** Ignores the result, so that the caller continues at once. */
export function forget(written: Promise<unknown>): void {
  written.catch(() => undefined);
}

export function withClaims(store: ExecutionStore, change: (claim: PlanClaim) => void): ExecutionStore {
  return {
    ...store,
    async claimPlan(planId, owner) {
      const claim = await store.claimPlan(planId, owner);
      if (claim) change(claim);
      return claim;
    },
  };
}

/** Changes the unit records that the executor writes. */
export function withRecords(
  store: ExecutionStore,
  change: (record: UnitRecord) => UnitRecord,
): ExecutionStore {
  return {
    ...store,
    writeRecords: (claim, records, ends) => store.writeRecords(claim, records.map(change), ends),
    noteRecords: (claim, records, ...rest) => store.noteRecords(claim, records.map(change), ...rest),
    finishPlan: (claim, finish, last) =>
      store.finishPlan(claim, finish, last && { ...last, records: last.records.map(change) }),
  };
}

/** Changes the lists in the plans that the executor reads. */
export function withLists(store: ExecutionStore, change: (forEach: ForEach) => ForEach): ExecutionStore {
  return withClaims(store, ({ plan }) => {
    const steps = plan.plan.steps.map((step) =>
      isForEachStep(step) ? { ...step, forEach: change(step.forEach) } : step,
    );
    plan.plan = { ...plan.plan, steps };
  });
}

/** An envelope that counts every item as a success. */
export function countedAsSuccess(held: HeldJson | undefined): HeldJson | undefined {
  const output = held === undefined ? held : valueOfHeld(held);
  if (!isJsonObject(output) || !isJsonObject(output["summary"]) || !Array.isArray(output["results"]))
    return output;
  return { ...output, summary: { ok: output["results"].length, error: 0 } };
}

/** Stores a plan and its request in the wrong order. */
export async function acceptPlanFirst(
  input: Parameters<MemoryStore["submitPlan"]>[0],
  { database, reach }: { database: MemoryDatabase; reach: Reach },
): ReturnType<MemoryStore["submitPlan"]> {
  const separate = createMemoryDatabase(() => database.now());
  const accepted = await createMemoryStore({ database: separate, owner: "api" }).submitPlan(input);
  for (const collection of ["plans", "requests"]) {
    const documents = separate.find(collection, {});
    const insert = (): void => documents.forEach((document) => database.insert(collection, document));
    await reach({ name: `${collection}.insert`, apply: insert });
  }
  return accepted;
}

/** Returns the ids first and stores the plan later. */
export async function acceptEarly(
  input: Parameters<MemoryStore["submitPlan"]>[0],
  { database, reach }: { database: MemoryDatabase; reach: Reach },
): ReturnType<MemoryStore["submitPlan"]> {
  const separate = createMemoryDatabase(() => database.now());
  const accepted = await createMemoryStore({ database: separate, owner: "api" }).submitPlan(input);
  const insert = (): void => {
    for (const collection of ["requests", "plans", "journal"]) {
      for (const document of separate.find(collection, {})) database.insert(collection, document);
    }
  };
  reach({ name: "late insert", apply: insert }).catch(() => undefined);
  return accepted;
}

/** A store with other leases of plans. */
export function withLeases(
  store: ExecutionStore,
  leases: Partial<ExecutionStore["planLeases"]>,
): ExecutionStore {
  return { ...store, planLeases: { ...store.planLeases, ...leases } };
}

/** Changes what the calls of earlier versions mean for a call. */
export function withRepeats(store: ExecutionStore, change: (repeat: Repeat) => Repeat): ExecutionStore {
  return {
    ...store,
    async readRepeats(claim) {
      const repeatOf = await store.readRepeats(claim);
      return repeatOf && ((unit) => change(repeatOf(unit)));
    },
  };
}

/** Ids of the steps of these units. */
export function stepsOf(keys: readonly string[]): string[] {
  return keys.map((key) => key.replace(/\[\d+\]$/, ""));
}

/** A version that does not know under which keys earlier ones called. */
export function withoutKeys(entry: JournalEntry): JournalEntry {
  const events = entry.events.map((event) =>
    event.type === "plan.stored" ? { ...event, unanswered: [] } : event,
  );
  return { ...entry, events };
}

function removeRequest(database: MemoryDatabase, requestId: unknown): void {
  database.remove("requests", { _id: requestId });
  for (const collection of ["plans", "journal"]) database.remove(collection, { requestId });
}

/** Removes the requests that had ended in the round before, without an entry that refuses changes. */
export function removeUnclaimed({
  database,
  reach,
}: {
  database: MemoryDatabase;
  reach: Reach;
}): RetentionStore {
  let found: unknown[] = [];
  return {
    async removeEnded({ endedBefore }) {
      const isOld = { updatedAt: { $lt: endedBefore }, status: { $in: ENDED_REQUEST_STATUSES } };
      const old = found;
      const read = { name: "requests.find", apply: () => database.find("requests", isOld) };
      found = (await reach(read)).map(({ _id }) => _id);
      const remove = (): void => old.forEach((requestId) => removeRequest(database, requestId));
      await reach({ name: "deleteMany", apply: remove });
      return old.length;
    },
  };
}

/** Removes requests that have not changed for a time, whether they have ended or not. */
export function removeUnended({
  database,
  reach,
}: {
  database: MemoryDatabase;
  reach: Reach;
}): RetentionStore {
  return {
    async removeEnded({ endedBefore }) {
      const isOld = { updatedAt: { $lt: endedBefore } };
      const read = { name: "requests.find", apply: () => database.find("requests", isOld) };
      const old = await reach(read);
      const remove = (): void => old.forEach(({ _id }) => removeRequest(database, _id));
      await reach({ name: "deleteMany", apply: remove });
      return old.length;
    },
  };
}
