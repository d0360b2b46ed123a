import type { JsonObject, JsonValue } from "@planwright/plan";
import { checkArguments, itemScope, resolveArguments } from "../arguments.ts";
import { batchArguments } from "../for-each/batch.ts";
import type { StepError } from "../protocol.ts";
import type { Caller, EngineState, Prepared, Unit } from "../state/engine-state.ts";

/** A caller's call, and the units that will not be part of it. */
export interface Preparation {
  prepared: Prepared | undefined;
  refused: { unit: Unit; error: StepError }[];
}

/**
 * Resolves and validates the arguments of a call, once: later attempts get the same object back.
 * @param values - the list of a forEach; default the one that its step was expanded to
 */
export function prepareCall(
  state: EngineState,
  caller: Caller,
  values: readonly JsonValue[] | undefined = caller.step.forEach?.values,
): Preparation {
  if (caller.prepared) return { prepared: caller.prepared, refused: [] };
  const sent: Unit[] = [];
  const each: JsonObject[] = [];
  const warnings = new Set<string>();
  const refused: Preparation["refused"] = [];
  for (const unit of caller.units) {
    const resolved = resolveArguments(state, caller.step, scopeOf(unit, values));
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
  const isBatch = caller.units.length > 1;
  const value = isBatch ? batchArguments(caller.step, each) : only;
  const error = checkArguments(caller.step, value);
  if (error) return { prepared: undefined, refused: [...refused, ...sent.map((unit) => ({ unit, error }))] };
  caller.prepared = { arguments: value, warnings: [...warnings].toSorted(), sent };
  return { prepared: caller.prepared, refused };
}

function scopeOf(unit: Unit, values: readonly JsonValue[] | undefined) {
  const value = unit.item === undefined ? undefined : values?.[unit.item];
  return value === undefined || unit.item === undefined ? undefined : itemScope(unit.step, value, unit.item);
}
