/**
 * What is known about the effect of a call, of all calls of a unit, and when a call may be made once more.
 *
 * 1. Only a call of a tool with side effects has an effect; a look-up has none.
 * 2. `none`: the call certainly did nothing. `done`: it acted. `possible`: everything else, also an error that
 *    the tool answered, because most servers answer exceptions after the effect, and time-outs, that way.
 * 3. A unit that ended FAILED with another effect than `none` is called again only if an operator names its
 *    step, unless the repeat cannot act twice (class R, and class K with the same arguments).
 * 4. Effects belong to the request: what a call of an earlier version did is never done again by a later
 *    version, unless an operator names the step.
 */
import { type Classed, isKeyed, isRepeatable, type StepStatus } from "@planwright/plan";
import type { Call, Outcome, StepErrorCode } from "./protocol.ts";

/** What is known about an effect, from the least to the most. */
export const EFFECTS = ["none", "possible", "done"] as const;
/** See {@link EFFECTS}. */
export type Effect = (typeof EFFECTS)[number];

/** Errors of calls that acted and whose answer cannot be used. */
const ACTED: ReadonlySet<string> = new Set<StepErrorCode>(["TOOL_RESULT_INVALID", "TOOL_RESULT_TOO_LARGE"]);

/** Decisions of an operator: the call did not happen. */
const NOT_DONE: ReadonlySet<string> = new Set<StepErrorCode>(["SETTLED_AS_FAILED", "SETTLED_AS_NOT_DONE"]);

/** The effect of a call that has ended; null for a call that cannot have one. Pure. */
export function effectOfCall(
  { mayAct, errors }: Pick<Call, "mayAct" | "errors">,
  outcome: Outcome,
): Effect | null {
  if (!mayAct) return null;
  switch (outcome.type) {
    case "completed":
      return "done";
    case "deferred":
    case "carried":
    case "aborted": // it was not sent, or the tool confirmed that it stopped
      return "none";
    case "failed":
      if (outcome.effect === "none") return "none";
      if (outcome.effect === "unknown") return "possible";
      if (ACTED.has(outcome.error.code)) return "done";
      return errors === "no-effect" ? "none" : "possible";
  }
}

/** The facts about a unit that its effect follows from. */
export interface EffectFacts {
  status: StepStatus;
  /** Its place in its list; null or absent for a step. */
  item?: number | null | undefined;
  /** True while a call that may have acted is not settled. */
  mayHaveActed?: boolean | undefined;
  error: { code: string } | null;
  /** Present when an operator settled the unit after the end of its plan. */
  resolvedBy?: { resolution: "completed" | "failed" | "retry" } | undefined;
  attempts: readonly {
    outcome: "completed" | "failed" | "aborted" | "unknown" | null;
    effect: Effect | null;
    errors?: "no-effect" | undefined;
  }[];
}

/** The effect of all calls of a unit; null when none of them can have had one. Pure. */
export function effectOfUnit({
  status,
  item,
  mayHaveActed,
  error,
  resolvedBy,
  attempts,
}: EffectFacts): Effect | null {
  const effects = attempts.flatMap(({ effect }) => effect ?? []);
  if (effects.length === 0) return null;
  if (status === "COMPLETED") return "done";
  if (resolvedBy || (error !== null && NOT_DONE.has(error.code))) return "none";
  if (mayHaveActed || status === "IN_DOUBT" || status === "RUNNING") return "possible";
  // A lost answer of an earlier attempt was settled by a later answer or a look-up.
  const isUnusable = error !== null && ACTED.has(error.code);
  const answered = attempts.flatMap(({ outcome, effect, errors }) => {
    // A call for several items was answered, and the answer says that this one failed. A step whose own call
    // was answered so may stand for items that succeeded.
    if (outcome === "completed") {
      if (isUnusable) return "done";
      return errors === "no-effect" && typeof item === "number" && status === "FAILED" ? "none" : "possible";
    }
    return outcome === "failed" && effect ? effect : [];
  });
  return EFFECTS.findLast((one) => answered.includes(one)) ?? "none";
}

/** The facts about a unit that did not complete, in the version that is current. */
interface OpenFacts extends Classed {
  status: StepStatus;
  effect: Effect | null;
  error?: { code: string } | null | undefined;
  mayHaveActed?: boolean | undefined;
  /** Calls of earlier versions that were sent under a key, and that this version has not settled. */
  unanswered?: readonly { isAnswered?: true | undefined }[] | undefined;
  resolvedBy?: object | undefined;
}

/**
 * What another call of a unit that did not complete has to respect. `unsettled`: a call was sent and has no
 * usable answer. `answered`: the tool answered an error, after which it may have acted. Null: nothing acted, or
 * the call may be repeated (class R). Pure.
 */
export function openEffect(unit: OpenFacts): "unsettled" | "answered" | null {
  const { status, effect, error, mayHaveActed, unanswered = [], resolvedBy } = unit;
  if (status === "COMPLETED" || isRepeatable(unit) || resolvedBy) return null;
  if (unanswered.some(({ isAnswered }) => !isAnswered)) return "unsettled";
  if (effect !== "possible" && effect !== "done") return null;
  const isUnusable = error !== null && error !== undefined && ACTED.has(error.code);
  return status === "IN_DOUBT" || mayHaveActed || isUnusable ? "unsettled" : "answered";
}

/** True for a completed unit whose call had an effect that another call would repeat. Pure. */
export function hasDoneEffect(unit: OpenFacts): boolean {
  return unit.status === "COMPLETED" && unit.effect === "done" && !isRepeatable(unit);
}

/** True for a unit that failed or was cancelled, and whose calls acted or may have acted. Pure. */
export function hasFailedActing(unit: EffectFacts): boolean {
  if (unit.status !== "FAILED" && unit.status !== "CANCELLED") return false;
  const effect = effectOfUnit(unit);
  return effect === "possible" || effect === "done";
}

/**
 * True when another call of a unit that has ended might repeat an effect: an operator has to name the step
 * first. A key makes the same call safe; a doubt is settled instead. Pure.
 */
export function needsAcceptance(unit: OpenFacts): boolean {
  const { status, error } = unit;
  if (status !== "FAILED" && status !== "CANCELLED") return false;
  if (error?.code === ("REPEAT_NOT_ACCEPTED" satisfies StepErrorCode)) return true;
  return !isKeyed(unit) && openEffect(unit) !== null;
}
