import type { FoldedAttempt } from "@planwright/engine";
import type {
  Classed,
  Diagnostic,
  LeftOutTool,
  Plan,
  PlanStatus,
  RequestStatus,
  ToolDescriptor,
  ToolPin,
  WaitReason,
} from "@planwright/plan";
import type {
  DiagnosedUnits,
  ModelLimits,
  ModelWait,
  PlanApproval,
  PlanOrigin,
  UnitResolution,
} from "@planwright/store";
import type { ShownStep } from "../plans/step-views.ts";

/** An error in a diagnosis. */
export interface ErrorFact {
  code: string;
  message: string;
}

/** One try of a step; see `FoldedAttempt`. */
export type AttemptFact = Pick<FoldedAttempt, "startedAt" | "endedAt" | "unsent"> & {
  error: ErrorFact | null;
};

/** A step, or one item of a forEach step, and why it waits now. Its arguments are read only for an open approval. */
export type StepFact = Pick<
  ShownStep,
  | "id"
  | "key"
  | "item"
  | "tool"
  | "status"
  | "waitReason"
  | "warnings"
  | "approvalHash"
  | "arguments"
  | "effect"
  | "nextAttemptAt"
  | "expiresAt"
  | "startedAt"
  | "finishedAt"
> &
  Classed & { error: ErrorFact | null; attempts: readonly AttemptFact[] };

/** The current plan of a request. */
export interface PlanFact {
  planId: string;
  status: PlanStatus;
  waitReason: WaitReason | null;
  origin: PlanOrigin;
  error: ErrorFact | null;
  createdAt: Date;
  queuedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  deadlineAt: Date | null;
  cancelRequestedAt: Date | null;
  pauseRequestedAt: Date | null;
  approvals: readonly Pick<PlanApproval, "stepId" | "approvalHash">[];
  resolutions: readonly Pick<UnitResolution, "key" | "attempt">[];
  /**
   * How many executors that held it, one after another, are no longer alive, without a step that ended
   * between these losses.
   */
  lostExecutors: number;
  /** Null for a submission that could not be parsed as a plan. */
  document: Pick<Plan, "steps" | "policy"> | null;
  /** The servers that offered its tools when it was made. Absent: not recorded. */
  toolPins?: readonly Pick<ToolPin, "tool" | "server">[] | undefined;
  /** All steps, and those items that a diagnosis may name. */
  steps: readonly StepFact[];
  /** Numbers of all items by their status, for each list. */
  itemCounts: DiagnosedUnits<StepFact>["itemCounts"];
}

/** The progress of a version of a plan. */
export interface VersionFact {
  version: number;
  /** Steps of the plan. */
  steps: number;
  /** Completed steps, including carried-over ones. */
  completed: number;
}

/** Planning waits: the tenant has made its model calls of an hour. */
export interface ModelPause {
  maxPerHour: number;
  until: Date;
}

/** A request with all data for its diagnosis. */
export interface RequestFact {
  requestId: string;
  /** Version of the current plan, from 1. */
  version: number;
  status: RequestStatus;
  source: "query" | "plan";
  query: string | null;
  error: ErrorFact | null;
  diagnostics: readonly Diagnostic[];
  questions: readonly string[];
  /** Limits of its model calls. Absent: none. */
  modelLimits?: ModelLimits | undefined;
  waitReason: WaitReason | null;
  createdAt: Date;
  updatedAt: Date;
  planningStartedAt: Date | null;
  /** Null: it does not wait for that. */
  modelPause: ModelPause | null;
  planningFinishedAt: Date | null;
  /** The wait for a model that is away; null while there is none. */
  modelWait: ModelWait | null;
  plan: PlanFact | null;
  /** An earlier version with another plan that did better than the current one; null when there is none. */
  better: VersionFact | null;
}

/** The data of a diagnosis. */
export interface DiagnosisFacts {
  request: RequestFact;
  /** The tools that are offered now. */
  tools: readonly ToolDescriptor[];
  /** The tools that servers list and that no plan can use. */
  leftOut: readonly LeftOutTool[];
  /** Limits of model calls that no request may exceed. Absent: none. */
  serviceLimits?: ModelLimits | undefined;
  /** Now, in milliseconds since 1970. */
  nowMs: number;
}

/** Name of the server that offers a tool now. */
export function serverOf({ tools }: Pick<DiagnosisFacts, "tools">, tool: string): string | undefined {
  return tools.find(({ name }) => name === tool)?.server;
}

const incompleteSteps = ({ steps, completed }: VersionFact) => steps - completed;

/**
 * The best earlier version to go back to: it has fewer incomplete steps than the current version, and at
 * least as many completed ones. Of several, the version with the fewest incomplete steps, then the newest.
 * Undefined when there is none. Pure.
 */
export function betterVersion<Version extends VersionFact>(
  current: VersionFact,
  earlier: readonly Version[],
): Version | undefined {
  return earlier
    .filter((one) => incompleteSteps(one) < incompleteSteps(current) && one.completed >= current.completed)
    .toSorted(
      (one, other) => incompleteSteps(one) - incompleteSteps(other) || other.version - one.version,
    )[0];
}

/** "2 of 3 steps" */
export const leftText = (version: VersionFact) => `${incompleteSteps(version)} of ${version.steps}`;

/** Calls that run now. For a forEach step its items count, not the step itself. */
export function runningCalls({ steps }: PlanFact): number {
  const lists = new Set(steps.filter(({ item }) => item !== null).map(({ id }) => id));
  return steps.filter(({ id, item, status }) => status === "RUNNING" && (item !== null || !lists.has(id)))
    .length;
}
