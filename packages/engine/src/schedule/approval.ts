import { isForEachStep, type JsonObject } from "@planwright/plan";
import { expandForEach, valuesOf } from "../for-each/expand.ts";
import type { Caller, EngineState, Prepared, StepNode, Unit } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { resolveCall, unitsOfThisVersion } from "./prepare.ts";
import { askForTimer } from "./slots.ts";

/** The calls that an operator has to approve, or the error when their arguments cannot be resolved. */
export type Approvable =
  | { ok: true; value: JsonObject; calls: { caller: Caller; prepared: Prepared }[] }
  | { ok: false; error: StepError };

/** True for a step whose calls need approval, by the plan or by the contract of its tool. */
export function needsApproval({ step, tool }: StepNode): boolean {
  return step.approval === true || tool.contract.requiresApproval;
}

/** True for a step that cannot go on before an operator approves its calls. */
export function lacksApproval(node: StepNode): boolean {
  return needsApproval(node) && !node.unit.approved && !node.isDoneBefore;
}

/** Notes that an approval expires at this time. */
export function noteExpiry(state: EngineState, expiresAt: number | undefined): void {
  if (expiresAt === undefined) return;
  state.approvalsExpireAt = Math.min(expiresAt, state.approvalsExpireAt ?? expiresAt);
}

/**
 * Fails the steps whose approval was neither given nor refused in time, and asks for a timer for the next one.
 * Decisions of the same turn come before: they were made in time. O(1) until one expires.
 */
export function expireApprovals(turn: Turn): void {
  const { state, at } = turn;
  if (state.awaitingApproval === 0 || state.approvalsExpireAt === undefined) return;
  if (state.approvalsExpireAt <= at) {
    for (const { unit } of state.steps) if (isExpired(unit, at)) expire(turn, unit);
    state.approvalsExpireAt = nextExpiry(state);
  }
  const { approvalsExpireAt: next, timerAt } = state;
  if (next !== undefined && (timerAt === undefined || timerAt > next)) askForTimer(turn, next);
}

/** When the first approval expires, in Unix milliseconds. O(V). */
export function nextExpiry({ awaitingApproval, steps }: EngineState): number | undefined {
  if (awaitingApproval === 0) return undefined;
  const times = steps.flatMap(({ unit }) =>
    unit.status === "WAITING_APPROVAL" && unit.expiresAt !== undefined ? [unit.expiresAt] : [],
  );
  return times.length > 0 ? Math.min(...times) : undefined;
}

function isExpired({ status, unacknowledged, expiresAt }: Unit, at: number): boolean {
  return status === "WAITING_APPROVAL" && !unacknowledged && expiresAt !== undefined && expiresAt <= at;
}

function expire(turn: Turn, unit: Unit): void {
  const until = new Date(unit.expiresAt ?? turn.at).toISOString();
  const message = `Nothing was called: the call was neither approved nor refused until ${until} (approvalTimeoutMs)`;
  turn.state.awaitingApproval--;
  change(turn, unit, { status: "FAILED", error: { code: "APPROVAL_EXPIRED", message, retryable: false } });
}

/**
 * The arguments of a step as they will be sent; for a forEach the arguments of each call, as `{calls:
 * {"step[0]": {..}}}`. They depend only on durable outputs, so the result is the same after a crash.
 */
export function approvableOf(state: EngineState, node: StepNode): Approvable {
  if (node.approvable) return { ok: true, value: node.approvable, calls: [] };
  const approvable = isForEachStep(node.step) ? callsOf(state, node) : argumentsOf(state, node);
  if (approvable.ok) node.approvable = approvable.value;
  return approvable;
}

function argumentsOf(state: EngineState, node: StepNode): Approvable {
  const { caller } = node.unit;
  if (!caller) return { ok: true, value: {}, calls: [] };
  const { prepared, refused } = resolveCall(state, caller, unitsOfThisVersion(caller), undefined);
  const [first] = refused;
  if (first) return { ok: false, error: first.error };
  return { ok: true, value: prepared?.arguments ?? {}, calls: prepared ? [{ caller, prepared }] : [] };
}

/** Items whose arguments cannot be resolved are left out: they fail when the list runs. */
function callsOf(state: EngineState, node: StepNode): Approvable {
  if (!isForEachStep(node.step)) return { ok: true, value: {}, calls: [] };
  let { forEach: items } = node;
  if (!items) {
    const expansion = expandForEach(state, node, node.step);
    if (!expansion.ok) return expansion;
    items = expansion.items;
  }
  const values = items === node.forEach ? valuesOf(state, node) : items.values;
  const all: JsonObject = {};
  const calls: { caller: Caller; prepared: Prepared }[] = [];
  for (const caller of items.callers) {
    const { prepared } = resolveCall(state, caller, unitsOfThisVersion(caller), values);
    if (!prepared) continue;
    all[caller.key] = prepared.arguments;
    calls.push({ caller, prepared });
  }
  return { ok: true, value: { calls: all }, calls };
}
