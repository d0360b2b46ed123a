/**
 * Reading is folding (docs/architecture.md, J5): the states of the units of plans. For a request that was read
 * before, only later entries are read, without outputs and arguments.
 */
import {
  advance,
  emptyRequest,
  type FoldedAttempt,
  type FoldedRequest,
  type FoldedUnit,
  fold,
  type JournalEvent,
  outlineOf,
  type PlanOutline,
  type PlanState,
  type StepRun,
  stepRuns,
} from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-lists.ts";
import type { WantedValues } from "../records/document-heads.ts";
import { type EntryLog, type EntryPosition, entryIdOf, type SelectedEvents } from "./entry-log.ts";

/** Maximum number of units in cached requests: about one KiB each. */
const MAX_CACHED_UNITS = 50_000;
/** Maximum number of steps in cached outlines. */
const MAX_CACHED_STEPS = 100_000;

/** The projection of a plan's document for `outlineOf`. */
export const OUTLINE = {
  requestId: 1,
  tenant: 1,
  status: 1,
  "plan.steps.id": 1,
  "plan.steps.tool": 1,
  "plan.steps.dependsOn": 1,
  "plan.steps.forEach.do.tool": 1,
} as const;

/** A plan with its units. It is immutable: later entries are in the next object. */
export interface PlanUnits extends PlanState {
  /** Its request, with all versions. */
  request: FoldedRequest;
  /** The seq of the last entry that was folded. */
  seq: number;
}

/** Requests that are being folded together. */
interface Reading {
  requestIds: readonly string[];
  /** Resolves when it is folded, or when that failed. */
  ended: Promise<void>;
  /** The read after it, for all who came meanwhile. */
  next?: Promise<Map<string, FoldedRequest>>;
}

/** Reads of units, bound to a tenant. */
export type UnitReads = ReturnType<typeof createUnitReads>;

/** Folded requests by id. @param maxUnits - of all of them together */
export function createFoldCache(maxUnits: number): LRUCache<string, FoldedRequest> {
  return new LRUCache({
    maxSize: maxUnits,
    sizeCalculation: ({ plans }) => [...plans.values()].reduce((sum, { units }) => sum + units.size, 1),
  });
}

/** Reads of units over the journal. */
export function createUnitReads({ plans }: Collections, log: EntryLog) {
  const requests = createFoldCache(MAX_CACHED_UNITS);
  const outlines = new LRUCache<PlanId, PlanOutline>({
    maxSize: MAX_CACHED_STEPS,
    sizeCalculation: ({ steps }) => steps.length + 1,
  });

  const readings = new Map<string, Reading>();

  async function outlinesOf(tenant: string, planIds: readonly PlanId[]): Promise<PlanOutline[]> {
    const unknown = planIds.filter((id) => !outlines.has(id));
    const found =
      unknown.length === 0
        ? []
        : await plans.find({ _id: { $in: [...unknown] } }, { projection: OUTLINE }).toArray();
    const read = new Map(found.map((plan) => [plan._id, outlineOf(plan)]));
    for (const [id, outline] of read) outlines.set(id, outline);
    const all = planIds.flatMap((id) => read.get(id) ?? outlines.get(id) ?? []);
    return all.filter((outline) => outline.tenant === tenant);
  }

  /**
   * Requests after all their entries. While a request is being folded, which may take a second for a long
   * journal, its later readers share one read of the entries after that.
   */
  async function requestsOf(requestIds: readonly string[]): Promise<Map<string, FoldedRequest>> {
    const underWay = new Set(requestIds.flatMap((id) => readings.get(id) ?? []));
    const free = requestIds.filter((id) => !readings.has(id));
    const reads = [...[...underWay].map(readNext), ...(free.length > 0 ? [foldTails(free)] : [])];
    return new Map((await Promise.all(reads)).flatMap((found) => [...found]));
  }

  function readNext(reading: Reading): Promise<Map<string, FoldedRequest>> {
    const { requestIds, ended } = reading;
    reading.next ??= ended.then(() => requestsOf(requestIds));
    return reading.next;
  }

  function foldTails(requestIds: readonly string[]): Promise<Map<string, FoldedRequest>> {
    const folded = foldNow(requestIds).finally(() => {
      for (const requestId of requestIds) readings.delete(requestId);
    });
    const ended = folded.then(
      () => undefined,
      () => undefined, // its callers handle it
    );
    const reading = { requestIds, ended };
    for (const requestId of requestIds) readings.set(requestId, reading);
    return folded;
  }

  /** Each entry is folded as it comes: between entries the process does other work. */
  async function foldNow(requestIds: readonly string[]): Promise<Map<string, FoldedRequest>> {
    const now = new Map(requestIds.map((id) => [id, requests.get(id) ?? emptyRequest(id)]));
    const changed = new Map<string, FoldedRequest>();
    for await (const entry of log.readTails([...now.values()])) {
      const { requestId } = entry;
      const own = changed.get(requestId);
      if (own) advance(own, [entry]);
      else changed.set(requestId, fold(now.get(requestId) ?? emptyRequest(requestId), [entry]));
    }
    for (const [requestId, request] of changed) requests.set(requestId, request);
    return new Map([...now, ...changed]);
  }

  const ofPlan = createTenantReads(
    async (tenant, planIds: PlanId[]): Promise<PlanUnits[]> => {
      const found = await outlinesOf(tenant, planIds);
      const folded = await requestsOf([...new Set(found.map(({ requestId }) => requestId))]);
      return found.map((outline) => {
        const request = folded.get(outline.requestId) ?? emptyRequest(outline.requestId);
        return { outline, request, plan: request.plans.get(outline.planId), seq: request.seq };
      });
    },
    ({ outline }) => outline.planId,
  );

  return {
    /** The plan's units now; null: unknown, or another tenant's. Calls of one turn are one read. */
    ofPlan,
    /** The current folded state of a request. The caller has checked its tenant. */
    ofRequest: async (id: RequestId): Promise<FoldedRequest> =>
      (await requestsOf([id])).get(id) ?? emptyRequest(id),
    log,
  };
}

/* The values that heads of units leave out. Only the entries that have them are read. */

/** The part of a unit that has values or names the entries with them. */
type Unit = Omit<FoldedUnit, "item" | "tool">;

interface UnitOfRequest<Of extends Unit> {
  requestId: string;
  unit: Of;
}

/** Units with their values, in the same order: one read for any number of units. */
export async function withValues<Of extends Unit>(
  log: EntryLog,
  units: readonly UnitOfRequest<Of>[],
  wanted: WantedValues,
): Promise<Of[]> {
  const positions = new Map<string, EntryPosition>();
  const keys = new Set<string>();
  for (const { requestId, unit } of units) {
    for (const seq of seqsOf(unit, wanted)) {
      positions.set(entryIdOf({ requestId, seq }), { requestId, seq });
      keys.add(unit.carriedKey ?? unit.key);
    }
  }
  const { body = false, output = false } = wanted;
  const found =
    positions.size === 0 ? [] : await log.readAt([...positions.values()], { keys: [...keys], body, output });
  const byId = new Map(found.map((entry) => [entryIdOf(entry), entry]));
  return units.map(({ requestId, unit }) =>
    filled(unit, wanted, (seq) => (seq === null ? undefined : byId.get(entryIdOf({ requestId, seq })))),
  );
}

/** All steps and items of a plan with their values, in plan order: one read. */
export function readStepRuns(log: EntryLog, state: PlanState, wanted: WantedValues): Promise<StepRun[]> {
  const units = stepRuns(state).map((unit) => ({ requestId: unit.requestId, unit }));
  return withValues(log, units, wanted);
}

function seqsOf(unit: Unit, { body, output }: WantedValues): number[] {
  const ofErrors = [
    unit.error?.dataBytes === undefined ? null : unit.errorSeq,
    ...unit.attempts.map(({ error, endSeq }) => (error?.dataBytes === undefined ? null : endSeq)),
  ];
  const seqs = [...(body ? [unit.argumentsSeq, ...ofErrors] : []), ...(output ? [unit.outputSeq] : [])];
  return seqs.filter((seq) => seq !== null);
}

type EntryAt = (seq: number | null) => SelectedEvents | undefined;

function filled<Of extends Unit>(unit: Of, { body, output }: WantedValues, entryAt: EntryAt): Of {
  return {
    ...unit,
    ...(body && bodyOf(unit, entryAt)),
    ...(output && outputOf(unit, entryAt)),
  };
}

function bodyOf(unit: Unit, entryAt: EntryAt): Partial<Unit> {
  // Its entries name it by its key in the version that executed it.
  const key = unit.carriedKey ?? unit.key;
  const args = lastOf(entryAt(unit.argumentsSeq), (event) => {
    if (event.type === "attempt.started" && event.units.includes(key)) return event.arguments;
    return event.type === "step.changed" && event.key === key ? event.toApprove?.arguments : undefined;
  });
  const error = lastOf(entryAt(unit.errorSeq), (event) =>
    event.type === "step.changed" && event.key === key ? event.error : undefined,
  );
  const attempts = unit.attempts.map((attempt): FoldedAttempt => {
    const errorWithData = lastOf(entryAt(attempt.endSeq), (event) =>
      event.type === "attempt.ended" && event.attemptId === attempt.attemptId ? event.error : undefined,
    );
    return errorWithData ? { ...attempt, error: errorWithData } : attempt;
  });
  return { arguments: args ?? unit.arguments, error: error ?? unit.error, attempts };
}

function outputOf(unit: Unit, entryAt: EntryAt): Partial<Unit> {
  const key = unit.carriedKey ?? unit.key;
  const { outputSeq } = unit;
  const completed = lastOf(entryAt(outputSeq), (event) =>
    event.type === "step.changed" && event.key === key && event.status === "COMPLETED" ? event : undefined,
  );
  const { output, outputText } = completed ?? {};
  return { ...(output !== undefined && { output }), ...(outputText !== undefined && { outputText }) };
}

function lastOf<T>(
  entry: SelectedEvents | undefined,
  pick: (event: JournalEvent) => T | null | undefined,
): T | undefined {
  let last: T | undefined;
  for (const event of entry?.events ?? []) last = pick(event) ?? last;
  return last;
}
