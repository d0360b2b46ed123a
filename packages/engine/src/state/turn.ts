import {
  type FailureMode,
  type HeldJson,
  isTerminalStepStatus,
  type OutputText,
  type StepStatus,
  waitReasonOfStep,
} from "@planwright/plan";
import type { EngineState, StepNode, Unit } from "./engine-state.ts";
import type { CallToApprove, Command, StepError, StepRecord } from "./protocol.ts";

/** One call of `decide`: the state, its commands, and the time and random number of the current event. */
export interface Turn {
  readonly state: EngineState;
  at: number;
  /** Uniform in [0, 1). */
  random: number;
  /**
   * A result is being stored that may make steps with a higher rank ready: slots stay free for them until it
   * is durable.
   */
  holdsSlots: boolean;
  readonly records: StepRecord[];
  /** As in the `record` command. */
  readonly toApprove: CallToApprove[];
  readonly commands: Command[];
}

/** New facts about a unit, not durable yet. */
export interface UnitChange {
  status: StepStatus;
  output?: HeldJson;
  outputText?: OutputText | undefined;
  error?: StepError | undefined;
  nextAttemptAt?: number;
  expiresAt?: number;
  approved?: boolean;
  /** Fields of its record beside those of the unit. */
  inRecord?: Partial<StepRecord>;
}

/**
 * Changes a unit and asks the shell to make the change durable (invariant 2 of the protocol and of the
 * state).
 */
export function change(turn: Turn, unit: Unit, to: UnitChange): void {
  unit.status = to.status;
  unit.output = to.output;
  unit.outputText = to.outputText;
  unit.error = to.error;
  unit.nextAttemptAt = to.nextAttemptAt;
  unit.expiresAt = to.expiresAt;
  if (to.approved !== undefined) unit.approved = to.approved;
  // An answer or an operator's decision settled it. A unit that is cancelled or skipped has not acted.
  if (isTerminalStepStatus(to.status)) unit.mayHaveActed = false;
  const isFailedStep = to.status === "FAILED" && unit.item === undefined;
  if (isFailedStep && failureModeOf(turn.state, unit.step) === "fail-fast") turn.state.failing = true;
  store(turn, unit, to.inRecord);
}

/** Asks the shell to store a unit as it is. */
export function store(turn: Turn, unit: Unit, inRecord: Partial<StepRecord> = {}): void {
  unit.unacknowledged = true;
  turn.state.unacknowledged++;
  if (unit.caller) unit.caller.unacknowledged++;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.unacknowledged++;
  turn.records.push({ ...recordOf(unit), ...inRecord });
}

function recordOf(unit: Unit): StepRecord {
  const record: StepRecord = {
    key: unit.key,
    stepId: unit.step.step.id,
    status: unit.status,
    attempts: unit.attempts,
  };
  if (unit.item !== undefined) record.item = unit.item;
  if (unit.unsent > 0) record.unsent = unit.unsent;
  if (unit.unreachable) record.unreachable = unit.unreachable;
  if (unit.output !== undefined) record.output = unit.output;
  if (unit.outputText !== undefined) record.outputText = unit.outputText;
  if (unit.error) record.error = unit.error;
  if (unit.nextAttemptAt !== undefined) record.nextAttemptAt = unit.nextAttemptAt;
  if (unit.expiresAt !== undefined) record.expiresAt = unit.expiresAt;
  if (unit.mayHaveActed) record.mayHaveActed = true;
  if (unit.approved) record.approved = true;
  if (unit.warnings.length > 0) record.warnings = [...unit.warnings];
  const waitReason = waitReasonOfStep(unit.status);
  if (waitReason) record.waitReason = waitReason;
  return record;
}

/**
 * What the failure of this step does to the rest of the plan. The first that is set wins: the step's
 * `onError`, the plan's policy, the declared `error_propagation` of the tool (profile `contract`: also its
 * default). Otherwise fail-forward when the plan uses only read-only tools, else fail-fast.
 */
export function failureModeOf(state: EngineState, node: StepNode): FailureMode {
  const { policy } = state.plan;
  if (node.step.onError) return node.step.onError;
  if (policy.onStepFailure !== "auto") return policy.onStepFailure;
  if (node.tool.declaresErrorPropagation || policy.profile === "contract") {
    return node.tool.contract.errorPropagation === "fail-fast" ? "fail-fast" : "fail-forward";
  }
  return state.onlyReadOnlyTools ? "fail-forward" : "fail-fast";
}
