/** The result of the oracle's replay of a journal. */
import type { EventOf, JournalEvent } from "@planwright/engine";
import {
  isTerminalPlanStatus,
  isTerminalStepStatus,
  type JsonValue,
  type PlanStatus,
  type RequestStatus,
  type StepStatus,
} from "@planwright/plan";

/** The state of a step or an item from one entry on. */
export interface UnitMoment {
  /** Of the entry. */
  seq: number;
  status: StepStatus;
  /** Attempts so far; consecutive attempts that found the tool server unreachable count as one. */
  attempts: number;
  /** The output of a completed unit; also undefined when it is stored separately. */
  output: JsonValue | undefined;
  isAside: boolean;
  errorCode: string | null;
}

/** One attempt of a unit. */
interface Try {
  attemptId: string;
  isEnded: boolean;
  isUnsent: boolean;
}

/** A step or an item over time. */
export interface ReplayedUnit {
  /** The version that made the call; null for this one. */
  carriedFrom: string | null;
  /** One for each entry about it. */
  moments: UnitMoment[];
  tries: Try[];
}

/** A control of a client or operator in the journal. */
export interface ToldControl {
  /** The entry. */
  id: string;
  type: string;
  by: string;
  /** Its subject, for which it counts once: a plan, a call, or an attempt. */
  subject: string;
}

/** One version of a plan over time. */
export interface ReplayedPlan {
  planId: string;
  version: number;
  /** The entry that stored it; 0 for the first version of a submitted plan. */
  storedSeq: number;
  endedSeq: number | null;
  statuses: { seq: number; status: PlanStatus }[];
  isPauseAsked: boolean;
  /** By key; without units that have no entry. */
  units: Map<string, ReplayedUnit>;
  controls: ToldControl[];
}

/** A fault in a journal. */
export interface JournalFault {
  /** The entry. */
  id: string;
  expected: string;
  found: string;
}

/** A request by its journal. */
export interface ReplayedRequest {
  requestId: string;
  /** Of the last entry. */
  seq: number;
  /** Type of its first event; null for a journal without entries. */
  beginsWith: JournalEvent["type"] | null;
  /** True when it begins with planning: every plan then has an entry. */
  isPlanned: boolean;
  /**
   * How planning last ended without a plan; null when it made one, or when a client has asked for another one
   * since.
   */
  planningEndedAs: "FAILED" | "CANCELLED" | null;
  /** By planId, oldest version first. */
  plans: Map<string, ReplayedPlan>;
  faults: JournalFault[];
}

/** A step before its first entry. */
const UNTOLD: UnitMoment = {
  seq: 0,
  status: "PENDING",
  attempts: 0,
  output: undefined,
  isAside: false,
  errorCode: null,
};

/** A plan before its first entry. */
export function newReplayedPlan(
  of: Pick<ReplayedPlan, "planId" | "version" | "storedSeq" | "units"> & { status?: PlanStatus },
): ReplayedPlan {
  const { status = "READY", ...rest } = of;
  const statuses = [{ seq: of.storedSeq, status }];
  return { ...rest, statuses, endedSeq: null, isPauseAsked: false, controls: [] };
}

/** The status of a plan at the end of its journal. Pure. */
export function lastStatus({ statuses }: ReplayedPlan): PlanStatus {
  return statuses.at(-1)?.status ?? "READY";
}

/** True when the plan has ended by its journal. Pure. */
export function hasPlanEnded(plan: ReplayedPlan): boolean {
  return isTerminalPlanStatus(lastStatus(plan));
}

/** The status of a request after the end of its plan. */
const REQUEST_AFTER: { readonly [status in PlanStatus]?: RequestStatus } = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  INVALID: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** The status of a request whose plan has ended; undefined before. Pure. */
export function requestStatusOf(plan: ReplayedPlan): RequestStatus | undefined {
  return REQUEST_AFTER[lastStatus(plan)];
}

/**
 * A unit after the entry at this place; undefined for an item that does not exist yet. A step exists from the
 * beginning. Pure.
 */
export function momentAt(plan: ReplayedPlan, key: string, seq: number): UnitMoment | undefined {
  const moments = plan.units.get(key)?.moments ?? [];
  return moments.findLast((moment) => moment.seq <= seq) ?? (key.endsWith("]") ? undefined : UNTOLD);
}

/** True when a unit can no longer change. Pure. */
export function hasUnitEnded(unit: ReplayedUnit | undefined): boolean {
  return isTerminalStepStatus(unit?.moments.at(-1)?.status ?? "PENDING");
}

/**
 * Changes a unit from this entry on. Several events of one entry are one state: readers see an entry as a
 * whole.
 */
export function tellUnit(unit: ReplayedUnit, seq: number, change: Partial<UnitMoment>): void {
  const before = unit.moments.at(-1) ?? UNTOLD;
  if (before.seq === seq) unit.moments.pop();
  unit.moments.push({ ...before, ...change, attempts: unit.tries.length, seq });
}

/** The subject of a control. Pure. */
export function subjectOf(
  event: EventOf<
    "approval.given" | "doubt.resolved" | "cancel.asked" | "pause.asked" | "resume.asked" | "execution.asked"
  >,
): string {
  if (event.type === "approval.given") return `${event.stepId} ${event.approvalHash}`;
  if (event.type === "doubt.resolved") return `${event.key} attempt ${event.attempt}`;
  return "the plan";
}
