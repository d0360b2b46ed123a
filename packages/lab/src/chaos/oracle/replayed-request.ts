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
  /** The seq of the entry. */
  seq: number;
  status: StepStatus;
  /** Attempts so far. Consecutive attempts that did not reach the tool server count as one. */
  attempts: number;
  /** The output of a completed unit; undefined when it is stored separately. */
  output: JsonValue | undefined;
  isStoredSeparately: boolean;
  errorCode: string | null;
}

/** One attempt of a unit. */
interface Try {
  attemptId: string;
  isEnded: boolean;
  isUnsent: boolean;
}

/** A step or an item with its states over time. */
export interface ReplayedUnit {
  /** The version that made the call; null when this version made it. */
  carriedFrom: string | null;
  /** One state for each entry about the unit. */
  moments: UnitMoment[];
  tries: Try[];
}

/** A control of a client or operator in the journal. */
export interface RecordedControl {
  /** The id of the entry. */
  id: string;
  type: string;
  by: string;
  /** A plan, a call or an attempt. The control counts once for its subject. */
  subject: string;
}

/** One version of a plan with its states over time. */
export interface ReplayedPlan {
  planId: string;
  version: number;
  /** The seq of the entry that stored it; 0 for the first version of a submitted plan. */
  storedSeq: number;
  endedSeq: number | null;
  statuses: { seq: number; status: PlanStatus }[];
  isPauseAsked: boolean;
  /** Units by key, without those that have no entry. */
  units: Map<string, ReplayedUnit>;
  controls: RecordedControl[];
}

/** A fault in a journal. */
export interface JournalFault {
  /** The id of the entry. */
  id: string;
  expected: string;
  found: string;
}

/** A request, replayed from its journal. */
export interface ReplayedRequest {
  requestId: string;
  /** The seq of the last entry. */
  seq: number;
  /** Type of its first event; null for a journal without entries. */
  beginsWith: JournalEvent["type"] | null;
  /** True when it begins with planning: every plan then has an entry. */
  isPlanned: boolean;
  /**
   * How planning last ended without a plan. Null when it made a plan, or when a client requested a replan
   * later.
   */
  planningEndedAs: "FAILED" | "CANCELLED" | null;
  /** By planId, oldest version first. */
  plans: Map<string, ReplayedPlan>;
  faults: JournalFault[];
}

/** A step before its first entry. */
const INITIAL_MOMENT: UnitMoment = {
  seq: 0,
  status: "PENDING",
  attempts: 0,
  output: undefined,
  isStoredSeparately: false,
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
 * A unit after the entry with this seq; undefined for an item that does not exist yet. A step always exists.
 * Pure.
 */
export function momentAt(plan: ReplayedPlan, key: string, seq: number): UnitMoment | undefined {
  const moments = plan.units.get(key)?.moments ?? [];
  return moments.findLast((moment) => moment.seq <= seq) ?? (key.endsWith("]") ? undefined : INITIAL_MOMENT);
}

/** True when a unit can no longer change. Pure. */
export function hasUnitEnded(unit: ReplayedUnit | undefined): boolean {
  return isTerminalStepStatus(unit?.moments.at(-1)?.status ?? "PENDING");
}

/**
 * Changes a unit from this entry on. All events of one entry make one state, because readers see only
 * complete entries.
 */
export function updateUnit(unit: ReplayedUnit, seq: number, change: Partial<UnitMoment>): void {
  const before = unit.moments.at(-1) ?? INITIAL_MOMENT;
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
