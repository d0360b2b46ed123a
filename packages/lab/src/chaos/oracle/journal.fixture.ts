import { isDeepStrictEqual } from "node:util";
import { calledIn, type JournalEvent } from "@planwright/engine";
import { groupBy, isCarried, isTerminalPlanStatus, JsonValueSchema } from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import type { Evidence, FinalPlan, FinalStep } from "../evidence.ts";

/** The executor of every plan here. */
export const WORKER = "host:101:aaaaaaaa";

type Documents = Pick<Evidence, "plans" | "steps">;

/** The evidence with the journals that its plans and steps would have. */
export function withJournal(evidence: Omit<Evidence, "journal">): Evidence {
  return { ...evidence, journal: journalsOf(evidence) };
}

/**
 * Journals that lead to these documents: one entry takes the lease, one follows for each step and item, and
 * one ends the plan.
 */
export function journalsOf({ plans, steps }: Documents): JournalDocument[] {
  const byRequest = groupBy(plans, ({ requestId }) => requestId);
  return [...byRequest].flatMap(([requestId, versions]) =>
    versions
      .toSorted((one, other) => one.version - other.version)
      .flatMap((plan) => turnsOf(plan, steps))
      .map((turn, index) => entryOf({ requestId, seq: index + 1, ...turn })),
  );
}

/** An entry of a worker; by default its epoch is 1. */
export function entryOf(
  entry: Pick<JournalDocument, "requestId" | "planId" | "seq" | "events"> & Partial<JournalDocument>,
): JournalDocument {
  const { requestId, seq } = entry;
  return {
    _id: `${requestId}/${String(seq).padStart(8, "0")}`,
    tenant: "default",
    by: { kind: "executor", id: WORKER },
    at: new Date(seq * 1_000),
    writeId: `write ${seq}`,
    ...entry,
  };
}

type Turn = Pick<JournalDocument, "planId" | "events"> & Partial<JournalDocument>;

const BY_API: Pick<JournalDocument, "by"> = { by: { kind: "api", id: "api" } };

function turnsOf(plan: FinalPlan, steps: readonly FinalStep[]): Turn[] {
  const { _id: planId, version, status } = plan;
  const units = steps.filter((unit) => unit.planId === planId);
  const carried = units.filter(isCarried).map(({ key }) => key);
  const moved = units.flatMap((unit) => movedTo(unit, steps));
  const stored: JournalEvent = {
    type: "plan.stored",
    planId,
    version,
    isValid: true,
    carried,
    settled: [],
    unanswered: [],
    ...(moved.length > 0 && { moved }),
  };
  const begin: Turn[] = version > 1 ? [{ planId, ...BY_API, events: [stored] }] : [];
  if (status === "READY" || status === "QUEUED" || status === "INVALID") return begin;
  const lease: JournalEvent = { type: "lease.taken", worker: WORKER, epoch: version, from: null };
  const lists = groupBy(
    units.filter(({ item }) => item !== null),
    ({ stepId }) => stepId,
  );
  const expanded = [...lists].map(
    ([stepId, { length }]): JournalEvent => ({ type: "items.expanded", stepId, count: length }),
  );
  const own = units.filter((unit) => !isCarried(unit)).map(eventsOf);
  const turns = [[lease, ...expanded], ...own, endOf(plan)].filter((events) => events.length > 0);
  return [...begin, ...turns.map((events) => ({ planId, epoch: version, events }))];
}

/** Where the results of a step come from, when the version before has no step with its id. */
function movedTo(unit: FinalStep, steps: readonly FinalStep[]) {
  const { planId, stepId, key, output } = unit;
  if (!isCarried(unit)) return [];
  const origin = calledIn(planId, unit);
  const ids = [...new Set(steps.map((step) => step.planId))];
  const before = ids[ids.indexOf(planId) - 1];
  const isThere = steps.some((step) => step.planId === before && step.key === key);
  const source = steps.find((step) => step.planId === origin && isDeepStrictEqual(step.output, output));
  return source && !isThere ? [{ stepId, planId: source.planId, from: source.stepId }] : [];
}

function endOf({ status }: FinalPlan): JournalEvent[] {
  if (status === "WAITING") return [{ type: "lease.released", status, waitReason: "in doubt", dueAt: null }];
  if (!isTerminalPlanStatus(status) || status === "INVALID") return [];
  return [{ type: "plan.ended", status, outputs: null, error: null }];
}

function eventsOf(unit: FinalStep): JournalEvent[] {
  const { key, stepId, item, status, attempts, tool } = unit;
  const calls = attempts.flatMap(({ startedAt: at, endedAt }, index): JournalEvent[] => {
    const call = { attemptId: `${key} ${index + 1}`, units: [key] };
    const args = { argsHash: "", arguments: { sizeBytes: 2 } };
    const facts = { stepId, tool, effectClass: "K", mayAct: true, ...args, at } as const;
    const started: JournalEvent = { type: "attempt.started", attempt: index + 1, ...call, ...facts };
    const end = { outcome: "completed", error: null, durationMs: 1 } as const;
    return endedAt === null ? [started] : [started, { type: "attempt.ended", ...call, ...end, at: endedAt }];
  });
  if (status === "PENDING") return calls;
  const changed: JournalEvent = {
    type: "step.changed",
    key,
    stepId,
    ...(item !== null && { item }),
    status,
    ...(status === "COMPLETED" && { output: JsonValueSchema.parse(unit.output) }),
  };
  return [...calls, changed];
}
