import { canMove, isTerminalStepStatus, STEP_LIFECYCLE, type StepStatus } from "@planwright/plan";
import { itemKey } from "../state/units.ts";
import type { EventPlace } from "./event-place.ts";
import type { EventOf } from "./events.ts";
import type { FoldedPlan, FoldedUnit } from "./folded.ts";

/** A unit of which nothing was told: PENDING. */
function newUnit(key: string): FoldedUnit {
  const [, stepId = key, item] = /^(.*)\[(\d+)\]$/.exec(key) ?? [];
  return {
    key,
    stepId,
    ...(item !== undefined && { item: Number(item) }),
    status: "PENDING",
    attempts: [],
    effectClass: null,
    arguments: null,
    argumentsSeq: null,
    argsHash: null,
    approvalHash: null,
    outputSeq: null,
    error: null,
    errorSeq: null,
    warnings: [],
    waitReason: null,
    nextAttemptAt: null,
    mayHaveActed: false,
    approved: false,
    carriedFrom: null,
    unanswered: [],
    startedAt: null,
    finishedAt: null,
    seq: 0,
    updatedAt: null,
  };
}

/**
 * A unit of the plan that an entry is about, copied to be changed.
 * @throws {JournalInvalidError} for one that is final
 */
export function openUnit({ plan, entry, invalid }: EventPlace, key: string): FoldedUnit {
  const { units } = plan();
  const unit = units.get(key);
  if (unit && isTerminalStepStatus(unit.status)) throw invalid(`${key} is ${unit.status} for good`);
  const copy = { ...(unit ?? newUnit(key)), seq: entry.seq, updatedAt: entry.at };
  if (!unit && copy.item !== undefined) throw invalid(`${key} is an item of a list that was not expanded`);
  units.set(key, copy);
  return copy;
}

/** Moves a unit, as its lifecycle allows it. @throws {JournalInvalidError} */
export function moveUnit({ invalid }: EventPlace, unit: FoldedUnit, to: StepStatus): void {
  if (unit.status !== to && !canMove(STEP_LIFECYCLE, unit.status, to))
    throw invalid(`${unit.key} is ${unit.status}, which never becomes ${to}`);
  unit.status = to;
}

/** Applies that the items of a list are known. */
export function expandItems({ plan, entry }: EventPlace, { stepId, count }: EventOf<"items.expanded">): void {
  const { units } = plan();
  const told = { seq: entry.seq, updatedAt: entry.at };
  for (let item = 0; item < count; item++) {
    const key = itemKey(stepId, item);
    if (!units.has(key)) units.set(key, { ...newUnit(key), ...told });
  }
}

/** Applies what is told of a unit: its whole state but for its attempts. */
export function changeUnit(place: EventPlace, event: EventOf<"step.changed">): void {
  const unit = openUnit(place, event.key);
  moveUnit(place, unit, event.status);
  const { output, outputBytes, outputRef, outputText, toApprove, resolvedBy } = event;
  const { seq } = place.entry;
  unit.error = event.error ?? null;
  unit.errorSeq = event.error ? seq : null;
  unit.warnings = event.warnings ?? unit.warnings;
  unit.waitReason = event.waitReason ?? null;
  unit.nextAttemptAt = event.nextAttemptAt ?? null;
  unit.mayHaveActed = event.mayHaveActed ?? false;
  unit.approved ||= event.approved ?? false;
  if (output !== undefined) unit.output = output;
  if (outputBytes !== undefined) unit.outputBytes = outputBytes;
  if (output !== undefined || outputBytes !== undefined) unit.outputSeq = seq;
  if (outputRef !== undefined) unit.outputRef = outputRef;
  if (outputText !== undefined) unit.outputText = outputText;
  if (toApprove) Object.assign(unit, toApprove, { argumentsSeq: seq });
  if (resolvedBy) unit.resolvedBy = resolvedBy;
  if (isTerminalStepStatus(event.status)) unit.finishedAt = place.entry.at;
}

/** What a unit's warnings say of a call that an earlier version sent, and that goes out once more. */
export function toldAgain({ key, planId }: EventOf<"plan.stored">["unanswered"][number]): string {
  return `The call of ${key} in ${planId} was not answered and may have acted: it is sent again under the same key, whose answer says what became of it`;
}

/**
 * The units with which a version begins: those carried over from the version before, and the steps with calls
 * that were not answered, their items' among them.
 */
export function carryUnits(
  { entry, invalid }: Pick<EventPlace, "entry" | "invalid">,
  previous: FoldedPlan | undefined,
  { carried, settled, unanswered }: EventOf<"plan.stored">,
): Map<string, FoldedUnit> {
  const units = new Map<string, FoldedUnit>();
  const decisions = new Map(settled.map(({ key, ...decision }) => [key, decision]));
  const told = { seq: entry.seq, updatedAt: entry.at };
  for (const key of carried) {
    const unit = previous?.units.get(key);
    if (!previous || !unit) throw invalid(`${key} is carried over, and there is no such unit`);
    const resolvedBy = decisions.get(key);
    const carriedFrom = unit.carriedFrom ?? previous.planId;
    units.set(key, { ...unit, ...told, carriedFrom, ...(resolvedBy && { resolvedBy }) });
  }
  for (const call of unanswered) {
    const stepId = call.key.replace(/\[\d+\]$/, "");
    const unit = units.get(stepId) ?? { ...newUnit(stepId), ...told };
    const warnings = [...unit.warnings, toldAgain(call)];
    units.set(stepId, { ...unit, warnings, unanswered: [...unit.unanswered, call] });
  }
  return units;
}
