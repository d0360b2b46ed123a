import type { HeldJson } from "@planwright/plan";
import type { Caller, EngineState, StepNode, Unit } from "./engine-state.ts";
import type { Call, StepRecord } from "./protocol.ts";

/** Key of an item: `stepId[3]`. */
export function itemKey(stepId: string, item: number): string {
  return `${stepId}[${item}]`;
}

/**
 * Keys of the units that a call serves: the step, or each of its items. Records and attempts use these keys.
 */
export function unitKeysOf(call: Pick<Call, "key" | "stepId" | "items">): string[] {
  return call.items ? call.items.map((item) => itemKey(call.stepId, item)) : [call.key];
}

/** A unit from its durable record; PENDING without one. */
export function createUnit(
  step: StepNode,
  key: string,
  item: number | undefined,
  record: StepRecord | undefined,
): Unit {
  return {
    key,
    step,
    item,
    caller: undefined,
    status: record?.status ?? "PENDING",
    attempts: record?.attempts ?? 0,
    unsent: record?.unsent ?? 0,
    unreachable: record?.unreachable,
    output: outputOf(record),
    outputBytes: record?.outputBytes,
    outputText: record?.status === "COMPLETED" ? record.outputText : undefined,
    error: record?.error,
    warnings: record?.warnings ?? [],
    nextAttemptAt: record?.nextAttemptAt,
    expiresAt: record?.expiresAt,
    mayHaveActed: record?.mayHaveActed ?? false,
    approved: record?.approved ?? false,
    isCarried: record?.carried ?? false,
    carriedFrom: undefined,
    unacknowledged: false,
    isEarly: false,
    early: undefined,
  };
}

/** The output of a completed unit without a stored output is null. */
function outputOf(record: StepRecord | undefined): HeldJson | undefined {
  if (record?.output !== undefined) return record.output;
  return record?.status === "COMPLETED" && record.outputBytes === undefined ? null : undefined;
}

/** Creates the caller of these units and links them to it. */
export function createCaller(step: StepNode, key: string, position: number, units: readonly Unit[]): Caller {
  const [first, ...others] = units;
  const latest = others.reduce((most, unit) => (unit.attempts > (most?.attempts ?? 0) ? unit : most), first);
  const caller: Caller = {
    key,
    step,
    position,
    units,
    attempts: latest?.attempts ?? 0,
    unsent: latest?.unsent ?? 0,
    unreachable: latest?.unreachable,
    prepared: undefined,
    calling: false,
    offered: false,
    held: false,
    waiting: undefined,
  };
  for (const unit of units) unit.caller = caller;
  return caller;
}

/** True when the plan is being ended: nothing is retried, running calls are stopped. */
export function isEnding(state: EngineState): boolean {
  return state.stopping?.type === "cancelled" || state.stopping?.type === "expired";
}
