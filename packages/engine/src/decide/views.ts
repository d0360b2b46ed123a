import {
  isTerminalStepStatus,
  type JsonValue,
  type StepStatus,
  stepNeedsPerson,
  valueOfHeld,
  type WaitReason,
  waitReasonOfStep,
} from "@planwright/plan";
import { waitsForBarrier } from "../schedule/barriers.ts";
import { isBusy } from "../schedule/slots.ts";
import type { EngineState, Unit } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";

/** The state of one step or item, for reports. */
export interface UnitView {
  key: string;
  stepId: string;
  item?: number;
  status: StepStatus;
  attempts: number;
  output?: JsonValue;
  error?: StepError;
  warnings: readonly string[];
  /** Why it waits; absent while it runs and once it is final. */
  waitReason?: WaitReason;
}

/** Every step in plan order, each followed by its items. O(V + items). */
export function unitViews(state: EngineState): UnitView[] {
  return state.steps.flatMap(({ unit, forEach }) =>
    [unit, ...(forEach?.units ?? [])].map((one) => viewOf(state, one)),
  );
}

/** Total size in bytes of the outputs in memory that a `drop` event can remove. O(1). */
export function heldBytesOf(state: EngineState): number {
  return state.inMemoryBytes;
}

/**
 * Why an unfinished step or item waits. Undefined when it runs, is final, or is not part of the plan. O(1).
 */
export function waitReasonOf(state: EngineState, key: string): WaitReason | undefined {
  const unit = state.units.get(key);
  return unit && reasonOf(state, unit);
}

function viewOf(state: EngineState, unit: Unit): UnitView {
  const view: UnitView = {
    key: unit.key,
    stepId: unit.step.step.id,
    status: unit.status,
    attempts: unit.attempts,
    warnings: unit.warnings,
  };
  const waitReason = reasonOf(state, unit);
  if (unit.item !== undefined) view.item = unit.item;
  if (unit.output !== undefined) view.output = valueOfHeld(unit.output);
  if (unit.error) view.error = unit.error;
  if (waitReason) view.waitReason = waitReason;
  return view;
}

function reasonOf(state: EngineState, unit: Unit): WaitReason | undefined {
  if (isTerminalStepStatus(unit.status) || unit.caller?.calling) return undefined;
  if (stepNeedsPerson(unit.status)) return waitReasonOfStep(unit.status);
  if (unit.caller === undefined && unit.step.forEach) return undefined; // its items run
  if (unit.step.unmet > 0 || waitsForBarrier(state, unit.step)) return "dependency";
  if (state.paused) return "paused";
  if (unit.caller?.waiting) return unit.caller.waiting.reason;
  const waitsForOthers = state.barrierRunning || (unit.step.tool.contract.barrier && isBusy(state));
  return waitReasonOfStep(unit.status) ?? (waitsForOthers ? "dependency" : "limit");
}
