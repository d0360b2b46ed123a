/**
 * What the versions of a request have called so far, and what another call would repeat.
 *
 * 1. Effects belong to the request: a call is compared with the calls of all earlier versions, by the tool and
 *    the arguments as they were sent, under any step id.
 * 2. A call that is done is carried over: it is never made again unless the writer of the version named its
 *    step (`acceptRepeat`).
 * 3. A call that may have acted is sent again only under its key (class K), or when its step was named or an
 *    operator has approved the call.
 * 4. One earlier call stands for one unit of the new version. Two steps that were planned with the same call
 *    are two calls.
 * 5. Calls of class R are not compared: they may be repeated.
 */
import {
  effectOfUnit,
  type FoldedPlan,
  type FoldedRequest,
  type FoldedUnit,
  openEffect,
} from "@planwright/engine";
import {
  calledIn,
  callOfStep,
  canonicalJson,
  groupBy,
  isCarried,
  isKeyed,
  isRepeatable,
  type Plan,
  pinsByTool,
  type RequestId,
  referencedSteps,
  remembered,
  type Step,
  type ToolPin,
  toolOfStep,
} from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { PlanDocument } from "../records/plan-document.ts";

/** A version of a request's plan, with the folded state of its units. */
export interface EarlierVersion extends Pick<PlanDocument, "_id" | "requestId" | "tenant" | "createdAt"> {
  plan: Plan;
  pins: ReadonlyMap<string, ToolPin> | undefined;
  folded: FoldedPlan;
}

/** A plan that is compared with earlier versions. */
export interface ComparedPlan {
  plan: Plan;
  pins: ReadonlyMap<string, ToolPin> | undefined;
}

/** The plans of all versions of a request. */
export async function readPlans(
  { plans }: Collections,
  { requestId, tenant }: { requestId: RequestId; tenant: string },
): Promise<VersionPlan[]> {
  const projection = { requestId: 1, tenant: 1, createdAt: 1, plan: 1, toolPins: 1 } as const;
  return plans.find({ requestId, tenant }, { projection }).toArray();
}

type VersionPlan = Pick<PlanDocument, "_id" | "requestId" | "tenant" | "createdAt" | "plan" | "toolPins">;

/** The versions whose plans have events, newest first. Pure. */
export function versionsOf(
  documents: readonly VersionPlan[],
  state: Pick<FoldedRequest, "plans">,
): EarlierVersion[] {
  const byId = new Map<string, VersionPlan>(documents.map((document) => [document._id, document]));
  return [...state.plans.values()].toReversed().flatMap((folded): EarlierVersion[] => {
    const found = byId.get(folded.planId);
    if (!found?.plan) return [];
    return [{ ...found, plan: found.plan, pins: pinsOf(found), folded }];
  });
}

/** The pins of a plan; undefined without pins. Pure. */
export function pinsOf({ toolPins }: { toolPins?: ToolPin[] | undefined }): ComparedPlan["pins"] {
  return toolPins && pinsByTool(toolPins);
}

/** The version and the key under which a unit was called. Pure. */
export function originOf(version: EarlierVersion, unit: FoldedUnit): string {
  return `${calledIn(version.folded.planId, unit)}/${unit.carriedKey ?? unit.key}`;
}

/** True when both plans mean the same tool by these names; without the pins of both the names are compared. */
export function isSameTool(name: string, of: ComparedPlan, other: string, ofOther: ComparedPlan): boolean {
  if (!of.pins || !ofOther.pins) return name === other;
  const [pin, otherPin] = [of.pins.get(name), ofOther.pins.get(other)];
  if (!pin || !otherPin) return !pin && !otherPin && name === other;
  return pin.server === otherPin.server && pin.name === otherPin.name;
}

/** True when two steps are written to make the same calls, whatever their ids. Pure. */
export function isSameCall(step: Step, of: ComparedPlan, other: Step, ofOther: ComparedPlan): boolean {
  return (
    isSameTool(toolOfStep(step), of, toolOfStep(other), ofOther) &&
    writtenCall(step, of) === writtenCall(other, ofOther)
  );
}

/** The steps of a plan, indexed once for each plan, because plans are immutable. Pure. */
export const stepsById = remembered(
  (plan: Plan): ReadonlyMap<string, Step> => new Map(plan.steps.map((step) => [step.id, step])),
);

/** True when both plans have a step with this id, and these are written to make the same calls. Pure. */
export function isSameStep(id: string, of: ComparedPlan, ofOther: ComparedPlan): boolean {
  const [step, other] = [stepsById(of.plan).get(id), stepsById(ofOther.plan).get(id)];
  return step !== undefined && other !== undefined && isSameCall(step, of, other, ofOther);
}

/** A cache, because steps are immutable. */
const writtenCalls = new WeakMap<Step, string>();

function writtenCall(step: Step, { plan }: ComparedPlan): string {
  const known = writtenCalls.get(step);
  if (known !== undefined) return known;
  const written = canonicalJson(callOfStep(step, plan, (id) => id));
  writtenCalls.set(step, written);
  return written;
}

/** A call that acted or may have acted. */
export interface EarlierCall {
  version: EarlierVersion;
  unit: FoldedUnit;
  /** The version and the key under which it was made first. */
  origin: string;
  tool: string;
  /** It is done; otherwise see `openEffect`. */
  effect: "done" | "unsettled" | "answered" | "denied";
  /** SHA-256 of its own arguments; empty when it is not known. */
  hash: string;
  /** The idempotency key under which it was sent. */
  sentKey: string;
}

/**
 * The calls of these versions with an effect, each once, newest version first. A call that was open and that a
 * later version has made again stands only for its later state. Pure.
 * @param versions - newest first
 */
export function earlierCalls(versions: readonly EarlierVersion[]): EarlierCall[] {
  const calls: EarlierCall[] = [];
  const seen = new Set<string>();
  const madeAgain = new Map<string, { version: EarlierVersion; tool: string }[]>();
  for (const version of versions) {
    const tools = new Map(version.plan.steps.map((step) => [step.id as string, toolOfStep(step)]));
    const units = [...version.folded.units.values()];
    const served = groupBy(units, ({ attempts }) => attempts.at(-1)?.attemptId);
    for (const unit of units) {
      const origin = originOf(version, unit);
      if (seen.has(origin)) continue;
      seen.add(origin);
      const tool = unit.tool ?? tools.get(unit.stepId) ?? "";
      const effect = isRepeatable(unit) ? null : effectOf(version, unit);
      // Before calls for several items had a hash for each, the hash was that of all of them.
      const isAlone = (served.get(unit.attempts.at(-1)?.attemptId)?.length ?? 0) < 2;
      const hash = unit.itemHash ?? (isAlone ? unit.argsHash : null) ?? "";
      if (effect === null && !isAnswered(unit)) continue;
      const later = madeAgain.get(hash) ?? [];
      const isOutdated = later.some(
        (one) => one.version !== version && isSameTool(tool, version, one.tool, one.version),
      );
      if (hash !== "") madeAgain.set(hash, [...later, { version, tool }]);
      if (effect === null || (isOutdated && effect !== "done")) continue;
      calls.push({ version, unit, origin, tool, effect, hash, sentKey: sentKeyOf(version, unit) });
    }
  }
  return calls;
}

/**
 * True for a unit whose earlier call, which had no answer, was settled by an answer to its key: it had no effect.
 * A refusal before the effect leaves such a unit in doubt.
 */
function isAnswered({ key, status, attempts, unanswered, argsHash }: FoldedUnit): boolean {
  const isSame = (call: FoldedUnit["unanswered"][number]): boolean =>
    call.key === key && call.argsHash === argsHash && !call.isAnswered;
  return status === "FAILED" && attempts.length > 0 && unanswered.some(isSame);
}

function effectOf({ folded }: EarlierVersion, unit: FoldedUnit): EarlierCall["effect"] | null {
  const effect = effectOfUnit(unit);
  if (unit.status === "COMPLETED") return effect === "done" ? "done" : null;
  const isDenied =
    unit.resolvedBy !== undefined || settledBy(unit, folded.resolutions)?.resolution === "failed";
  if (!isDenied) return openEffect({ ...unit, effect, unanswered: [] });
  // A decision is no answer to a key: if it was wrong, the same key prevents a second effect.
  const wasSent = unit.attempts.some((attempt) => attempt.effect === "possible" || attempt.effect === "done");
  return wasSent && isKeyed(unit) ? "denied" : null;
}

/** The operator's decision that the state of a unit is based on. Pure. */
export function settledBy(
  unit: Pick<FoldedUnit, "key" | "attempts" | "resolvedBy">,
  resolutions: Readonly<FoldedPlan["resolutions"]>,
): FoldedUnit["resolvedBy"] {
  const decision = resolutions.findLast(
    ({ key, attempt }) => key === unit.key && attempt === unit.attempts.length,
  );
  return unit.resolvedBy ?? (decision && { by: decision.by, resolution: decision.resolution.type });
}

function sentKeyOf(version: EarlierVersion, unit: FoldedUnit): string {
  if (unit.sentKey !== undefined) return unit.sentKey;
  const { key, argsHash, unanswered, carriedKey } = unit;
  const first = unanswered.find((call) => call.key === key && call.argsHash === argsHash);
  return `${first?.planId ?? calledIn(version.folded.planId, unit)}/${carriedKey ?? key}`;
}

/** A unit that is about to be called for the first time in its version. */
export interface UnitToCall {
  key: string;
  stepId: string;
  /** The tool's name in the plan. */
  tool: string;
  /** SHA-256 of its own arguments, and of those of its call, which may serve several items. */
  hash: string;
  argsHash: string;
  /** An operator has approved exactly this call. */
  isApproved: boolean;
}

/** What the earlier calls mean for the call of a unit. */
export type Repeat =
  | { type: "new" }
  | { type: "done"; call: EarlierCall }
  /** The same call was sent under a key, which makes it safe to send it again. */
  | { type: "same key"; call: EarlierCall }
  /** The same call acted or may have acted, and the repeat was not accepted. */
  | { type: "not accepted"; call: EarlierCall };

/**
 * Compares the calls of a version that is executed with those of all earlier versions. It notes which earlier
 * calls it has given to units, so that each of them stands for one unit.
 * @param now - the version that is executed
 * @param earlier - the versions before it, newest first
 */
export function createRepeats(
  now: EarlierVersion,
  earlier: readonly EarlierVersion[],
): (unit: UnitToCall) => Repeat {
  const steps = stepsById(now.plan);
  const accepted = new Set(now.folded.accepted);
  /** Keys of the units of this version that stand for earlier calls, by origin. */
  const given = new Map<string, string>();
  for (const unit of now.folded.units.values()) if (isCarried(unit)) given.set(originOf(now, unit), unit.key);
  const byHash = groupBy(earlierCalls(earlier), ({ hash }) => hash);

  /** True for a step of this version with the id and the call of the earlier one: the earlier call is its own. */
  const hasNamesake = ({ version, unit }: EarlierCall): boolean => isSameStep(unit.stepId, now, version);

  /** True when the steps that this one reads, and those that they read, make the same calls in both versions. */
  function readsTheSame(version: EarlierVersion, stepId: string): boolean {
    const read = new Set([stepId]);
    for (const id of read) {
      const step = steps.get(id);
      if (!step || !isSameStep(id, now, version)) return false;
      for (const other of referencedSteps(step, now.plan)) read.add(other);
    }
    return true;
  }

  /** True when the unit was planned beside the earlier call, as the same call: both are to be made. */
  function wasPlannedBeside({ key, stepId, hash }: UnitToCall, { origin, unit: done }: EarlierCall): boolean {
    return earlier.some((version) => {
      const { units } = version.folded;
      const planned = units.get(key);
      if (!planned || !isSameStep(stepId, now, version)) return false;
      const plannedHash = planned.itemHash ?? planned.argsHash;
      // A call that was never made would have been the same when everything that it reads is planned as before.
      const isKnown = done.stepId === stepId || readsTheSame(version, stepId);
      if (plannedHash === null ? !isKnown : plannedHash !== hash) return false;
      return [...units.values()].some((unit) => unit.key !== key && originOf(version, unit) === origin);
    });
  }

  return (unit) => {
    if (accepted.has(unit.stepId)) return { type: "new" };
    const same = (byHash.get(unit.hash) ?? []).filter(({ version, tool }) =>
      isSameTool(unit.tool, now, tool, version),
    );
    if (same.length === 0) return { type: "new" };
    const isOwn = (call: EarlierCall): boolean => call.unit.key === unit.key;
    const isFree = (call: EarlierCall): boolean => {
      const user = given.get(call.origin);
      return user === undefined ? isOwn(call) || !hasNamesake(call) : user === unit.key;
    };
    const free = same.filter(isFree).toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
    const call = free.find(({ effect }) => effect === "done") ?? free[0];
    if (!call) {
      const isPlanned = unit.isApproved || same.some((one) => wasPlannedBeside(unit, one));
      return isPlanned || !same[0] ? { type: "new" } : { type: "not accepted", call: same[0] };
    }
    given.set(call.origin, unit.key);
    if (call.effect === "done") return { type: "done", call };
    const hasKey = isKeyed(call.unit);
    if (hasKey && call.unit.argsHash === unit.argsHash) return { type: "same key", call };
    // The tool answered for this item in a call for other items too: that call cannot be sent again.
    const isKnown = hasKey && call.effect !== "unsettled";
    return isKnown || unit.isApproved ? { type: "new" } : { type: "not accepted", call };
  };
}
