/**
 * Compares the ledger of the tool server with MongoDB. The idempotency key of an effect names its plan. The
 * label in its arguments, which the plan fixes, names its step. So the check also finds an executor that
 * changes keys between attempts.
 */
import { isDeepStrictEqual } from "node:util";
import { groupBy, isForEachStep, isJsonObject, JsonValueSchema } from "@planwright/plan";
import type { LedgerEntry } from "@planwright/testing";
import { CHAOS_TOOLS, labelOf } from "../chaos-plan.ts";
import type { BrokenPromise, Evidence, FinalStep, ViolationKind } from "../evidence.ts";
import {
  acceptedLabels,
  callsByLabel,
  labelIn,
  type PlanVersion,
  planIdOfKey,
  type UnitCall,
  versionsByRequest,
} from "./plan-versions.ts";

/** Violations and counts from the ledger. */
interface EffectsVerdict {
  violations: BrokenPromise[];
  /** Effects of repeatable tools (class R) beyond the first of each step. */
  replays: number;
  /** Steps in doubt. */
  inDoubt: number;
}

/** Compares effects with records. Pure. */
export function checkEffects(evidence: Evidence): EffectsVerdict {
  const { plans, steps, ledger } = evidence;
  const violations: BrokenPromise[] = [];
  const report = (kind: ViolationKind, id: string, expected: string, found: string): void => {
    violations.push({ kind, id, expected, found });
  };
  const containers = new Set(
    plans.flatMap(({ _id, plan }) =>
      (plan?.steps ?? []).filter(isForEachStep).map(({ id }) => `${_id}/${id}`),
    ),
  );
  const versions = versionsByRequest(evidence);
  const versionOf = new Map([...versions.values()].flat().map((version) => [version.plan._id, version]));
  const unitOf = unitsIn(versionOf);
  const effectsOf = groupBy(ledger, unitOf);
  const effectsByLabel = groupBy(ledger, ({ arguments: args }) => labelIn(args));
  const units = new Map(steps.map((step) => [step._id, step]));
  const calls = callsByLabel(evidence.calls);
  let replays = 0;
  let inDoubt = 0;

  for (const step of steps) {
    if (containers.has(step._id)) continue;
    const effects = effectsOf.get(step._id) ?? [];
    const isRepeatable = CHAOS_TOOLS[step.tool]?.toolClass === "R";
    if (isRepeatable) replays += Math.max(0, effects.length - 1);
    else if (effects.length > 1) {
      report(
        "duplicated",
        step._id,
        `one effect of ${step.tool} at most`,
        `${effects.length}: ${numbersOf(effects)}`,
      );
    }
    if (step.status === "IN_DOUBT") inDoubt += 1;
    if (step.status === "COMPLETED" && CHAOS_TOOLS[step.tool]?.isCounted) {
      const effect = effectOf(step.output);
      // Earlier versions count too: carried-over units, and calls that were sent again under their first key.
      const label = versionOf.get(step.planId)?.labelOf(step.key);
      const known = label === undefined ? effects : (effectsByLabel.get(label) ?? []);
      if (!known.some((entry) => entry.effect === effect)) {
        report(
          "lost",
          step._id,
          `its effect ${effect ?? "?"} in the ledger, since it is COMPLETED`,
          numbersOf(effects),
        );
      }
    }
    if (hasNoEffect(step) && effects.length > 0) {
      const recorded = `it is ${step.status} and its effect ${step.effect ?? "unknown"}`;
      report("lost", step._id, `no effect, since ${recorded}`, numbersOf(effects));
    }
  }

  for (const [id, effects] of effectsOf) {
    const step = units.get(id);
    if (step === undefined) report("lost", id, "a record of a step that had an effect", "none");
    const keys = new Set(effects.filter((entry) => !isOwnKey(entry, id)).map(({ key }) => key));
    if (keys.size > 0) report("duplicated", id, "its own key with every call", [...keys].join(", "));
    if (new Set(effects.map(({ argsHash }) => argsHash)).size > 1) {
      report("regressions", id, "the same arguments in every attempt", `others for ${numbersOf(effects)}`);
    }
    for (const entry of effects)
      for (const wrong of wrongInputs(entry, id, { units, versionOf })) report("regressions", ...wrong);
  }
  // A plan that a client submitted twice under one key is one request.
  const requestOf = new Map(plans.map(({ _id, requestId }) => [_id, requestId]));
  for (const [label, effects] of effectsByLabel) {
    const requestIds = new Set(effects.map(planOf).map((planId) => requestOf.get(planId) ?? planId));
    if (requestIds.size > 1)
      report("duplicated", label ?? "?", "one request for one idempotency key", [...requestIds].join(", "));
  }
  for (const family of versions.values()) violations.push(...newKeysAfterEffects(family, effectsOf, calls));
  return { violations, replays, inDoubt };
}

/** The record says that the step had no effect. */
function hasNoEffect({ status, effect, tool }: FinalStep): boolean {
  // Effects of repeatable calls need no record: another call does no harm.
  if (status === "FAILED" || status === "CANCELLED")
    return CHAOS_TOOLS[tool]?.toolClass !== "R" && effect !== "possible" && effect !== "done";
  return status === "PENDING" || status === "SKIPPED";
}

/**
 * A unit that did not complete gets a new key for the same call only when its first call is known not to have
 * acted. A tool of class U has no keys: after an error its call is made again only by its name. Units that
 * completed: see `checkReruns`.
 */
function newKeysAfterEffects(
  versions: readonly PlanVersion[],
  effectsOf: ReadonlyMap<string, readonly LedgerEntry[]>,
  calls: ReadonlyMap<string, readonly UnitCall[]>,
): BrokenPromise[] {
  return versions.flatMap((version, position) =>
    version.units.flatMap(({ key, tool }): BrokenPromise[] => {
      const { plan } = version;
      const [effect] = effectsOf.get(`${plan._id}/${key}`) ?? [];
      if (effect === undefined || CHAOS_TOOLS[tool]?.toolClass === "R") return [];
      const label = version.labelOf(key);
      const idIn = (one: PlanVersion): string => `${one.plan._id}/${one.keyOf(label) ?? ""}`;
      const isSame = (first: LedgerEntry): boolean => isDeepStrictEqual(first.arguments, effect.arguments);
      const earlier = versions.slice(0, position).findLast((one) => effectsOf.get(idIn(one))?.some(isSame));
      if (earlier === undefined) return [];
      const before = earlier.units.find((unit) => unit.key === earlier.keyOf(label));
      const first = effectsOf.get(idIn(earlier))?.find(isSame);
      const wasRefused = (calls.get(label) ?? []).some(
        (call) => call.key === first?.key && call.answer === "error",
      );
      const isNamed =
        CHAOS_TOOLS[tool]?.toolClass !== "K" && wasRefused && acceptedLabels(versions, position).has(label);
      if (before?.status === "COMPLETED" || isNamed) return [];
      const found = `effect ${effect.effect} under a new one`;
      return [
        {
          kind: "duplicated",
          id: `${plan._id}/${key}`,
          expected: `the key of effect ${first?.effect}`,
          found,
        },
      ];
    }),
  );
}

/** True when the key is that of the unit, or of a batch that contains it. */
function isOwnKey({ key, tool }: LedgerEntry, id: string): boolean {
  if (key === id) return true;
  const batch = /^(.*)\[(\d+)\.\.(\d+)\]$/.exec(key ?? "");
  const item = /^(.*)\[(\d+)\]$/.exec(id);
  if (batch === null || item === null || CHAOS_TOOLS[tool]?.isBatch !== true || batch[1] !== item[1])
    return false;
  return Number(batch[2]) <= Number(item[2]) && Number(item[2]) <= Number(batch[3]);
}

/** Inputs of a call that differ from the recorded outputs of earlier steps. */
function wrongInputs(
  { arguments: args, effect }: LedgerEntry,
  id: string,
  {
    units,
    versionOf,
  }: { units: ReadonlyMap<string, FinalStep>; versionOf: ReadonlyMap<string, PlanVersion> },
): [id: string, expected: string, found: string][] {
  const value = args["value"];
  const from = isJsonObject(value) ? value["from"] : undefined;
  if (!isJsonObject(from)) return [];
  const planId = id.slice(0, id.indexOf("/"));
  const version = versionOf.get(planId);
  return Object.entries(from).flatMap(([dependency, used]): [string, string, string][] => {
    const label = labelOf(version?.index ?? -1, dependency);
    const output = units.get(`${planId}/${version?.keyOf(label) ?? dependency}`)?.output;
    const recorded = effectOf(output) ?? labelIn(JsonValueSchema.safeParse(output).data);
    if (recorded === used) return [];
    return [[id, `effect ${effect} with ${String(recorded)} from ${dependency}`, JSON.stringify(used)]];
  });
}

/** `{planId}/{step key}`. The idempotency key gives the plan, the arguments give the step. */
function unitsIn(versionOf: ReadonlyMap<string, PlanVersion>): (entry: LedgerEntry) => string {
  return (entry) => {
    const label = labelIn(entry.arguments) ?? "?/?";
    const planId = planOf(entry);
    return `${planId}/${versionOf.get(planId)?.keyOf(label) ?? label.slice(label.indexOf("/") + 1)}`;
  };
}

function planOf({ key }: LedgerEntry): string {
  return planIdOfKey(key);
}

function effectOf(recorded: unknown): number | undefined {
  const output = JsonValueSchema.safeParse(recorded).data;
  return isJsonObject(output) && typeof output["effect"] === "number" ? output["effect"] : undefined;
}

function numbersOf(effects: readonly LedgerEntry[]): string {
  return effects.length === 0 ? "no effect" : `effects ${effects.map(({ effect }) => effect).join(", ")}`;
}
