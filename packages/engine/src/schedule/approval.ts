import {
  canonicalDigest,
  canonicalJson,
  type ForEachStep,
  isCarried,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sha256,
  sha256OfParts,
  unmarkNumbers,
} from "@planwright/plan";
import { type ArgumentsState, callTemplate } from "../state/arguments.ts";
import type { EngineState, StepNode, Unit } from "../state/engine-state.ts";
import { type Approvable, BEGINNING_CHARS, type CallToApprove, type ToApprove } from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { itemKey } from "../state/units.ts";
import { callsOfList, type List, listOf } from "./expand.ts";
import { resolveCall } from "./prepare.ts";
import { askForTimer } from "./slots.ts";

/** True for a step whose calls need approval, by the plan or by the contract of its tool. */
export function needsApproval({ step, tool }: StepNode): boolean {
  return step.approval === true || tool.contract.requiresApproval;
}

/** True for a step that cannot continue before an operator approves its calls. */
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

/** What is to be approved of a step, as plain data. */
export function toApprove(state: EngineState, node: StepNode): ToApprove {
  const { plan, largeBytes, itemRecords } = state;
  const items = node.forEach
    ? node.forEach.units.filter((unit) => unit.isCarried)
    : [...(itemRecords.get(node.step.id)?.values() ?? [])].filter(isCarried);
  const carried = items.flatMap(({ item }) => item ?? []);
  const { maxItems } = plan.limits;
  const statuses = isForEachStep(node.step) && node.step.forEach.when ? [...state.statuses] : [];
  return { ...callTemplate(state, node), maxItems, carried, statuses, largeBytes };
}

/**
 * The arguments of a step as they will be sent; for a forEach the arguments of each call, as `{calls:
 * {"step[0]": {..}}}`. They depend only on durable outputs, so the result is the same after a crash, and in
 * every thread. Items whose arguments cannot be resolved are left out: they fail when the list runs. Pure.
 * @param list - the items of a forEach, where they are resolved already
 */
export function resolveApprovable(
  state: ArgumentsState,
  asked: ToApprove,
  list?: List<JsonValue>,
): Approvable {
  const { step, largeBytes } = asked;
  if (isForEachStep(step)) {
    const statuses = new Map(asked.statuses);
    return resolveList(state, asked, step, list ?? listOf({ ...state, statuses }, step, asked.maxItems));
  }
  const call = { ...asked, units: [{ key: step.id }], isBatch: false, hashesItems: false };
  const { arguments: value = {}, refused } = resolveCall(state, call, { shares: true });
  const [error] = refused.values();
  if (error) return { ok: false, error };
  const written = JSON.stringify(value);
  if (Buffer.byteLength(written) <= largeBytes) return { ok: true, value };
  const text = unmarkNumbers(written);
  return {
    ok: true,
    large: {
      digest: canonicalDigest(value),
      calls: undefined,
      argsHash: sha256(written),
      sizeBytes: Buffer.byteLength(text),
      beginning: text.slice(0, BEGINNING_CHARS),
    },
  };
}

/**
 * The calls of a step that begins to wait for approval, for the comparison with those of earlier versions. None
 * for large arguments and for batches, whose items are compared when they are called.
 */
export function callsToApprove({ step, tool }: StepNode, approvable: Approvable): CallToApprove[] {
  if (!("value" in approvable) || (isForEachStep(step) && tool.contract.batch)) return [];
  const call = { stepId: step.id, ...tool.ofCall };
  if (!isForEachStep(step)) return [{ ...call, key: step.id, arguments: approvable.value }];
  const { calls = null } = approvable.value;
  return Object.entries(isJsonObject(calls) ? calls : {}).flatMap(([key, args]) =>
    isJsonObject(args) ? [{ ...call, key, arguments: args }] : [],
  );
}

/** True for the arguments of a list of which no item is called. */
export function hasNoCalls({ calls }: JsonObject): boolean {
  return isJsonObject(calls) && Object.keys(calls).length === 0;
}

/** The calls are resolved one after the other: together they may be larger than a text can be. */
function resolveList(
  state: ArgumentsState,
  asked: ToApprove,
  step: ForEachStep,
  list: List<JsonValue>,
): Approvable {
  if (!list.ok) return list;
  const notCalled = new Map(list.notCalled);
  const called = [...list.values.keys()].filter((item) => !notCalled.has(item));
  const { name, descriptor, batch } = asked.tool;
  const node = { step, tool: { name, descriptor, contract: { batch } } };
  const calls = callsOfList(node, step, called);
  const carried = new Set(asked.carried);
  const resolve = ({ from, to }: { from: number; to: number }): JsonObject | undefined => {
    const units = called
      .slice(from, to)
      .filter((item) => !carried.has(item))
      .map((item) => ({ key: itemKey(step.id, item), item, value: list.values[item] }));
    const call = { ...asked, units, isBatch: to - from > 1, hashesItems: false };
    return resolveCall(state, call, { shares: true }).arguments;
  };

  const value: JsonObject = {};
  const [open, close] = ['{"calls":{', "}}"];
  let sizeBytes = open.length + close.length;
  let beginning = open;
  let isSmall = true;
  function* texts(): Generator<string> {
    yield open;
    let separator = "";
    for (const each of calls) {
      const args = resolve(each);
      if (!args) continue;
      const written = `${separator}${JSON.stringify(each.key)}:${JSON.stringify(args)}`;
      const text = unmarkNumbers(written);
      sizeBytes += Buffer.byteLength(text);
      if (beginning.length < BEGINNING_CHARS) beginning += text.slice(0, BEGINNING_CHARS);
      isSmall &&= sizeBytes <= asked.largeBytes;
      if (isSmall) value[each.key] = args;
      separator = ",";
      yield written;
    }
    yield close;
  }
  const digests: Record<string, string> = {};
  function* canonicalTexts(): Generator<string> {
    yield open;
    let separator = "";
    for (const each of calls.toSorted((one, other) => (one.key < other.key ? -1 : 1))) {
      const args = resolve(each);
      if (!args) continue;
      const text = canonicalJson(args);
      digests[each.key] = sha256(text);
      yield `${separator}${JSON.stringify(each.key)}:${text}`;
      separator = ",";
    }
    yield close;
  }

  const argsHash = sha256OfParts(texts());
  if (isSmall) return { ok: true, value: { calls: value } };
  const digest = sha256OfParts(canonicalTexts());
  beginning = `${beginning}${close}`.slice(0, BEGINNING_CHARS);
  return { ok: true, large: { digest, calls: digests, argsHash, sizeBytes, beginning } };
}
