import {
  type HeldJson,
  isSettledStepStatus,
  isTerminalStepStatus,
  type JsonObject,
  sha256,
  valueOfHeld,
} from "@planwright/plan";
import { batchArguments, batchItemSchema } from "../for-each/batch.ts";
import { valuesOf } from "../for-each/expand.ts";
import { checkArguments, fitArguments, itemScope, resolveArguments } from "../state/arguments.ts";
import type { Caller, EngineState, Prepared, Unit } from "../state/engine-state.ts";
import { resendsAllItems } from "../state/may-have-acted.ts";
import type { StepError } from "../state/protocol.ts";
import { missingField } from "../state/required-fields.ts";
import { unresolvedArguments } from "../state/unresolved-arguments.ts";

/** The arguments of a caller's call, and the units that are not part of it. */
export interface Preparation {
  prepared: Prepared | undefined;
  refused: { unit: Unit; error: StepError }[];
}

/**
 * Resolves and validates the arguments of a call, once: later attempts for the same units get the same
 * object.
 */
export function prepareCall(state: EngineState, caller: Caller): Preparation {
  const units = unitsToSend(caller);
  const { refusal } = caller.step.tool;
  if (refusal) return { prepared: undefined, refused: units.map((unit) => ({ unit, error: refusal })) };
  if (caller.prepared && servesAll(caller.prepared, units)) return { prepared: caller.prepared, refused: [] };
  const missing = missingField(state, caller.step);
  if (missing) return { prepared: undefined, refused: units.map((unit) => ({ unit, error: missing })) };
  const values = valuesOf(state, caller.step);
  const unresolved = units.length === 1 ? unresolvedArguments(state, caller, values) : undefined;
  if (unresolved) {
    // Not kept with the caller: these outputs may be dropped before the next attempt.
    const prepared: Prepared = { arguments: {}, warnings: [], sent: units, itemHashes: undefined };
    caller.prepared = prepared;
    return { prepared: { ...prepared, unresolved }, refused: [] };
  }
  const preparation = resolveCall(state, caller, units, values);
  caller.prepared = preparation.prepared;
  return preparation;
}

/**
 * The units of a caller's next call. A batch that may be repeated is sent with all items, byte for byte, even
 * when some have a result. In any other batch, settled units and units in doubt are not sent again.
 */
export function unitsToSend(caller: Caller): readonly Unit[] {
  const units = unitsOfThisVersion(caller);
  if (resendsAllItems(caller.step.tool)) return units;
  return units.filter(({ status }) => !isSettledStepStatus(status));
}

/** The units that this version of the plan calls: all except carried ones. */
export function unitsOfThisVersion({ units }: Caller): readonly Unit[] {
  return units.some(({ isCarried }) => isCarried) ? units.filter(({ isCarried }) => !isCarried) : units;
}

/** True when the prepared call is for exactly these units, except for units that have ended. */
function servesAll({ sent }: Prepared, units: readonly Unit[]): boolean {
  const served = new Set(sent);
  const wanted = new Set(units);
  return (
    sent.every((unit) => wanted.has(unit)) &&
    units.every((unit) => served.has(unit) || isTerminalStepStatus(unit.status))
  );
}

/**
 * The arguments of a call for these units, resolved and validated.
 * @param values - the item values of a forEach
 */
export function resolveCall(
  state: EngineState,
  caller: Caller,
  units: readonly Unit[],
  values: readonly HeldJson[] | undefined,
): Preparation {
  const sent: Unit[] = [];
  const each: JsonObject[] = [];
  const warnings = new Set<string>();
  const refused: Preparation["refused"] = [];
  const isBatch = caller.units.length > 1;
  const schema = isBatch ? batchItemSchema(caller.step) : caller.step.tool.descriptor?.inputSchema;
  for (const unit of units) {
    const resolved = resolveArguments(state, caller.step, { scope: scopeOf(unit, values), schema });
    if (!resolved.ok) {
      refused.push({ unit, error: resolved.error });
      continue;
    }
    for (const warning of resolved.warnings) warnings.add(warning);
    sent.push(unit);
    each.push(resolved.value);
  }
  const [only] = each;
  if (!only) return { prepared: undefined, refused };
  const { value, warnings: fitted } = fitArguments(
    caller.step,
    isBatch ? batchArguments(caller.step, each) : only,
  );
  for (const warning of fitted) warnings.add(warning);
  const error = checkArguments(caller.step, value);
  if (error) return { prepared: undefined, refused: [...refused, ...sent.map((unit) => ({ unit, error }))] };
  const isCounted = isBatch && !caller.step.tool.onlyReads;
  const itemHashes = isCounted ? each.map((one) => sha256(JSON.stringify(one))) : undefined;
  return { prepared: { arguments: value, warnings: [...warnings].toSorted(), sent, itemHashes }, refused };
}

function scopeOf({ item, step: { step } }: Unit, values: readonly HeldJson[] | undefined) {
  const value = item === undefined ? undefined : values?.[item];
  return value === undefined || item === undefined ? undefined : itemScope(step, valueOfHeld(value), item);
}
