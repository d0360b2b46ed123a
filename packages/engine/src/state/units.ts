import { type HeldJson, isCarried, type StepStatus } from "@planwright/plan";
import type { Caller, EngineState, StepNode, Unit } from "./engine-state.ts";
import type { Call, StepError, StepRecord, Tries } from "./protocol.ts";

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
    ...triesOf(record),
    output: outputOf(record),
    outputBytes: record?.outputBytes,
    outputText: record?.status === "COMPLETED" ? record.outputText : undefined,
    error: record?.error,
    warnings: record?.warnings ?? [],
    nextAttemptAt: record?.nextAttemptAt,
    expiresAt: record?.expiresAt,
    mayHaveActed: record?.mayHaveActed ?? false,
    approved: record?.approved ?? false,
    isCarried: record !== undefined && isCarried(record),
    unacknowledged: false,
    isEarly: false,
    early: undefined,
  };
}

function triesOf({ attempts = 0, unsent = 0, unreachable }: Partial<Tries> = {}): Tries {
  return { attempts, unsent, unreachable };
}

/** Number of times that the call of a caller, or of one of its units, was sent, without look-ups. */
export function sentBy({ attempts, unsent }: Tries): number {
  return attempts - unsent;
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
    unacknowledged: 0,
    ...triesOf(latest),
    prepared: undefined,
    calling: false,
    offered: false,
    held: false,
    waiting: undefined,
  };
  for (const unit of units) unit.caller = caller;
  return caller;
}

/** Why a condition skipped a step or an item. */
export function conditionFalse(): StepError {
  return { code: "CONDITION_FALSE", message: "Skipped because its condition is false", retryable: false };
}

/** What tells why a unit was skipped. */
interface MaybeSkipped {
  readonly status: StepStatus;
  readonly error?: { readonly code: string } | null | undefined;
}

/** True for a unit that a condition skipped, which is no failure. */
export function isSkippedByCondition({ status, error }: MaybeSkipped): boolean {
  return status === "SKIPPED" && error?.code === "CONDITION_FALSE";
}

/**
 * The position of each item of a list in the results of its output, by item; an item that the condition of the
 * list skipped has none. Takes O(n log n).
 */
export function positionsInResults(
  items: Iterable<MaybeSkipped & { readonly item?: number | undefined }>,
): Map<number, number> {
  const positions = new Map<number, number>();
  let skipped = 0;
  for (const unit of [...items].toSorted((one, other) => (one.item ?? 0) - (other.item ?? 0))) {
    if (unit.item === undefined) continue;
    if (isSkippedByCondition(unit)) skipped++;
    else positions.set(unit.item, unit.item - skipped);
  }
  return positions;
}

/** True when the plan is being ended: nothing is retried, running calls are stopped. */
export function isEnding(state: EngineState): boolean {
  return state.stopping?.type === "cancelled" || state.stopping?.type === "expired";
}
