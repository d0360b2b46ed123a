import {
  type HeldJson,
  isSettledStepStatus,
  isTerminalStepStatus,
  type JsonObject,
  sha256,
  valueOfHeld,
} from "@planwright/plan";
import {
  type ArgumentsState,
  callTemplate,
  checkArguments,
  fitArguments,
  itemScope,
  missingField,
  namedSources,
  resolveArguments,
  unresolvedArguments,
} from "../state/arguments.ts";
import type { Caller, EngineState, Prepared, Unit } from "../state/engine-state.ts";
import { asksLookup, resendsAllItems } from "../state/may-have-acted.ts";
import type { Call, CallTemplate, CallUnits, StepError, UnresolvedArguments } from "../state/protocol.ts";
import { sentBy } from "../state/units.ts";
import { valuesOf } from "./expand.ts";
import { batchArguments, batchItemSchema } from "./split-batch.ts";

/** The arguments of a caller's call, and the units that are not part of it. */
interface Preparation {
  prepared: Prepared | undefined;
  refused: { unit: Unit; error: StepError }[];
}

/** Resolved arguments, and the units that are not part of the call, by key. */
export interface ResolvedCall {
  /** Absent when no unit is left. */
  arguments: JsonObject | undefined;
  warnings: readonly string[];
  /** Keys of the units whose arguments they are. */
  sent: string[];
  /** As in the call. */
  itemHashes: string[] | undefined;
  refused: Map<string, StepError>;
}

/**
 * Resolves and validates the arguments of a call, once: later attempts for the same units get the same
 * object. Large ones are left to the shell.
 */
export function prepareCall(state: EngineState, caller: Caller): Preparation {
  const units = unitsToSend(caller);
  const { refusal } = caller.step.tool;
  if (refusal) return { prepared: undefined, refused: units.map((unit) => ({ unit, error: refusal })) };
  const { prepared: known } = caller;
  if (known && !known.isByShell && servesAll(known, units)) return { prepared: known, refused: [] };
  const called = callUnits(caller, units, valuesOf(state, caller.step));
  const unresolved = unresolvedArguments(state, caller.step, called);
  if (unresolved) {
    const sent = { arguments: {}, warnings: [], sent: units, itemHashes: undefined };
    caller.prepared = { ...sent, isByShell: true };
    return { prepared: { ...caller.prepared, unresolved }, refused: [] };
  }
  const resolved = resolveCall(state, { ...callTemplate(state, caller.step), ...called });
  const refused = units.flatMap((unit) => {
    const error = resolved.refused.get(unit.key);
    return error ? [{ unit, error }] : [];
  });
  const { arguments: value, warnings, itemHashes } = resolved;
  const sent = units.filter(({ key }) => !resolved.refused.has(key));
  caller.prepared = value && { arguments: value, warnings, sent, itemHashes };
  return { prepared: caller.prepared, refused };
}

/**
 * The units of a caller's next call. A batch that may be repeated is sent with all items, byte for byte, even
 * when some have a result, and a look-up is for all items of the call, because its answer is that of the call. In
 * any other batch, settled units and units in doubt are not sent again.
 */
export function unitsToSend(caller: Caller): readonly Unit[] {
  const units = unitsOfThisVersion(caller);
  if (resendsAllItems(caller.step.tool)) return units;
  const isOpen = ({ status }: Unit): boolean => !isSettledStepStatus(status);
  if (!asksLookup(caller)) return units.filter(isOpen);
  return units.filter((unit) => isOpen(unit) || sentBy(unit) === sentBy(caller));
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

/** @param values - the item values of a forEach */
function callUnits(
  { units: all, step: { tool } }: Caller,
  units: readonly Unit[],
  values: readonly HeldJson[] | undefined,
): CallUnits {
  const isBatch = all.length > 1;
  return {
    units: units.map(({ key, item }) =>
      item === undefined ? { key } : { key, item, value: values?.[item] },
    ),
    isBatch,
    hashesItems: isBatch && !tool.onlyReads,
  };
}

/** The arguments of a call, resolved and validated. Pure, and the same in every thread. */
export function resolveCall(
  state: ArgumentsState,
  { step, tool, merged, required, units, isBatch, hashesItems }: CallTemplate & CallUnits,
  { shares = false }: { shares?: boolean } = {},
): ResolvedCall {
  const refused = new Map<string, StepError>();
  const warnings = new Set<string>();
  const sent: string[] = [];
  const each: JsonObject[] = [];
  const itemHashes: string[] | undefined = hashesItems ? [] : undefined;
  const none = { arguments: undefined, warnings: [], sent: [], itemHashes: undefined, refused };
  const missing = missingField(state.outputs, tool.name, required);
  const { name, descriptor, batch } = tool;
  const node = {
    step,
    tool: { name, descriptor, contract: { batch } },
    dependencies: merged.map((id) => ({ step: { id } })),
  };
  const schema = isBatch ? batchItemSchema(node) : descriptor?.inputSchema;
  for (const { key, item, value } of units) {
    const scope =
      value === undefined || item === undefined ? undefined : itemScope(step, valueOfHeld(value), item);
    const resolved = missing
      ? ({ ok: false, error: missing } as const)
      : resolveArguments(state, node, { scope, schema, shares });
    if (!resolved.ok) {
      refused.set(key, resolved.error);
      continue;
    }
    for (const warning of resolved.warnings) warnings.add(warning);
    sent.push(key);
    each.push(resolved.value);
    itemHashes?.push(sha256(JSON.stringify(resolved.value)));
  }
  const [only] = each;
  if (!only) return none;
  const { value, warnings: fitted } = fitArguments(node, isBatch ? batchArguments(node, each) : only);
  for (const warning of fitted) warnings.add(warning);
  const error = checkArguments(node, value);
  if (error) {
    for (const key of sent) refused.set(key, error);
    return none;
  }
  return { arguments: value, warnings: [...warnings].toSorted(), sent, itemHashes, refused };
}

/** What a call with resolved arguments is for: the items that are left of it, and their hashes. */
export function callOfUnits(
  { units }: CallUnits,
  { sent, itemHashes }: Pick<ResolvedCall, "sent" | "itemHashes">,
): Pick<Call, "items" | "itemHashes"> {
  const kept = sent.length < units.length ? new Set(sent) : undefined;
  const items: number[] = [];
  for (const { key, item } of units) if (item !== undefined && kept?.has(key) !== false) items.push(item);
  return { ...(items.length > 0 && { items }), ...(itemHashes && { itemHashes }) };
}

/** {@link resolveCall} from the sources. The arguments may share lists and objects, also with each other. */
export function resolveUnresolved(unresolved: UnresolvedArguments): ResolvedCall {
  return resolveCall(namedSources(unresolved), unresolved, { shares: true });
}
