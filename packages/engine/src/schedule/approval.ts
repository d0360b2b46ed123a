import { isForEachStep, type JsonObject } from "@planwright/plan";
import { expandForEach, valuesOf } from "../for-each/expand.ts";
import type { EngineState, StepNode } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";
import { resolveCall, unitsOfThisVersion } from "./prepare.ts";

/** The arguments that an operator has to approve, or the error when they cannot be resolved. */
export type Approvable = { ok: true; value: JsonObject } | { ok: false; error: StepError };

/** True for a step whose calls need approval, by the plan or by the contract of its tool. */
export function needsApproval({ step, tool }: StepNode): boolean {
  return step.approval === true || tool.contract.requiresApproval;
}

/**
 * The arguments of a step as they will be sent; for a forEach the arguments of each call, as `{calls:
 * {"step[0]": {..}}}`. They depend only on durable outputs, so the result is the same after a crash.
 */
export function approvableOf(state: EngineState, node: StepNode): Approvable {
  if (node.approvable) return { ok: true, value: node.approvable };
  const approvable = isForEachStep(node.step) ? callsOf(state, node) : argumentsOf(state, node);
  if (approvable.ok) node.approvable = approvable.value;
  return approvable;
}

function argumentsOf(state: EngineState, node: StepNode): Approvable {
  const { caller } = node.unit;
  if (!caller) return { ok: true, value: {} };
  const { prepared, refused } = resolveCall(state, caller, unitsOfThisVersion(caller), undefined);
  const [first] = refused;
  if (first) return { ok: false, error: first.error };
  return { ok: true, value: prepared?.arguments ?? {} };
}

/** Items whose arguments cannot be resolved are left out: they fail when the list runs. */
function callsOf(state: EngineState, node: StepNode): Approvable {
  if (!isForEachStep(node.step)) return { ok: true, value: {} };
  let { forEach: items } = node;
  if (!items) {
    const expansion = expandForEach(state, node, node.step);
    if (!expansion.ok) return expansion;
    items = expansion.items;
  }
  const values = items === node.forEach ? valuesOf(state, node) : items.values;
  const calls: JsonObject = {};
  for (const caller of items.callers) {
    const { prepared } = resolveCall(state, caller, unitsOfThisVersion(caller), values);
    if (prepared) calls[caller.key] = prepared.arguments;
  }
  return { ok: true, value: { calls } };
}
