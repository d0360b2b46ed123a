/** What the oracle's own reading of a journal comes to. */
import type { EventOf, JournalEvent } from "@planwright/engine";
import {
  isTerminalPlanStatus,
  isTerminalStepStatus,
  type JsonValue,
  type PlanStatus,
  type RequestStatus,
  type StepStatus,
} from "@planwright/plan";

/** A step or an item as it is from one entry on. */
export interface UnitMoment {
  /** Of the entry. */
  seq: number;
  status: StepStatus;
  /** Attempts so far; those in a row that found the tool's server away are one. */
  attempts: number;
  /** Of a completed unit; undefined as well when it stands aside of the journal. */
  output: JsonValue | undefined;
  isAside: boolean;
  errorCode: string | null;
}

/** One try of a unit. */
interface Try {
  attemptId: string;
  isEnded: boolean;
  isUnsent: boolean;
}

/** A step or an item over time. */
export interface ReplayedUnit {
  /** The version that called it; null for this one. */
  carriedFrom: string | null;
  /** One for each entry that told of it. */
  moments: UnitMoment[];
  tries: Try[];
}

/** What a client or operator asked for, as the journal tells it. */
export interface ToldControl {
  /** The entry. */
  id: string;
  type: string;
  by: string;
  /** What it is said of, where it counts once: a plan, a call, or an attempt. */
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
  /** By key. One of which nothing was told is not here. */
  units: Map<string, ReplayedUnit>;
  controls: ToldControl[];
}

/** Something in a journal that must not be. */
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
  /** It begins with planning: no plan is there before the journal tells it. */
  isPlanned: boolean;
  /** How planning ended last, where it gave no plan; null when it gave one, or a client asked for another one since. */
  planningEndedAs: "FAILED" | "CANCELLED" | null;
  /** By planId, oldest version first. */
  plans: Map<string, ReplayedPlan>;
  faults: JournalFault[];
}

/** A step of which nothing was told yet. */
const UNTOLD: UnitMoment = {
  seq: 0,
  status: "PENDING",
  attempts: 0,
  output: undefined,
  isAside: false,
  errorCode: null,
};

/** A plan of which nothing was told yet. */
export function newReplayedPlan(
  of: Pick<ReplayedPlan, "planId" | "version" | "storedSeq" | "units"> & { status?: PlanStatus },
): ReplayedPlan {
  const { status = "READY", ...rest } = of;
  const statuses = [{ seq: of.storedSeq, status }];
  return { ...rest, statuses, endedSeq: null, isPauseAsked: false, controls: [] };
}

/** Where a plan stands when its journal ends. Pure. */
export function lastStatus({ statuses }: ReplayedPlan): PlanStatus {
  return statuses.at(-1)?.status ?? "READY";
}

/** True when the journal says that the plan is over. Pure. */
export function isPlanOver(plan: ReplayedPlan): boolean {
  return isTerminalPlanStatus(lastStatus(plan));
}

/** What a request says of the end of its plan. */
const REQUEST_AFTER: { readonly [status in PlanStatus]?: RequestStatus } = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  INVALID: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** Where a request stands whose plan has ended; undefined while it has not. Pure. */
export function requestStatusOf(plan: ReplayedPlan): RequestStatus | undefined {
  return REQUEST_AFTER[lastStatus(plan)];
}

/** A unit after the entry with this place; undefined for an item that is not there yet. A step is there from the beginning. Pure. */
export function momentAt(plan: ReplayedPlan, key: string, seq: number): UnitMoment | undefined {
  const moments = plan.units.get(key)?.moments ?? [];
  return moments.findLast((moment) => moment.seq <= seq) ?? (key.endsWith("]") ? undefined : UNTOLD);
}

/** True when nothing more can become of a unit. Pure. */
export function isUnitOver(unit: ReplayedUnit | undefined): boolean {
  return isTerminalStepStatus(unit?.moments.at(-1)?.status ?? "PENDING");
}

/** Has a unit be otherwise from this entry on. What several events of one entry tell of it is one moment: no reader sees less of an entry. */
export function tellUnit(unit: ReplayedUnit, seq: number, change: Partial<UnitMoment>): void {
  const before = unit.moments.at(-1) ?? UNTOLD;
  if (before.seq === seq) unit.moments.pop();
  unit.moments.push({ ...before, ...change, attempts: unit.tries.length, seq });
}

/** What a control is said of. Pure. */
export function subjectOf(
  event: EventOf<
    "approval.given" | "doubt.resolved" | "cancel.asked" | "pause.asked" | "resume.asked" | "execution.asked"
  >,
): string {
  if (event.type === "approval.given") return `${event.stepId} ${event.approvalHash}`;
  if (event.type === "doubt.resolved") return `${event.key} attempt ${event.attempt}`;
  return "the plan";
}
