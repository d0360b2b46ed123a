/**
 * Holds the tool server's ledger against what MongoDB says. An effect belongs to a plan by its idempotency key, and to a step
 * by the label in its arguments, which the plan fixed: so an executor that changed keys from one attempt to the next is found as well.
 */
import { isForEachStep, isJsonObject, type JsonValue } from "@planwright/plan";
import type { LedgerEntry } from "../src/index.ts";
import { CHAOS_TOOLS } from "./chaos-plan.ts";
import type { Evidence, FinalStep, Violation, ViolationKind } from "./evidence.ts";
import { groupBy } from "./group-by.ts";

/** What the ledger tells. */
export interface EffectFindings {
  violations: Violation[];
  /** Effects of repeatable tools (class R) beyond the first of each step. */
  replays: number;
  /** Steps in doubt. */
  inDoubt: number;
}

/** Compares effects and records. Pure. */
export function checkEffects(evidence: Evidence): EffectFindings {
  const { plans, steps, ledger } = evidence;
  const violations: Violation[] = [];
  const report = (kind: ViolationKind, id: string, expected: string, found: string): void => {
    violations.push({ kind, id, expected, found });
  };
  const containers = new Set(
    plans.flatMap(({ _id, plan }) =>
      (plan?.steps ?? []).filter(isForEachStep).map(({ id }) => `${_id}/${id}`),
    ),
  );
  const effectsOf = groupBy(ledger, unitOf);
  const units = new Map(steps.map((step) => [step._id, step]));
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
      if (!effects.some((entry) => entry.effect === effect)) {
        report(
          "lost",
          step._id,
          `its effect ${effect ?? "?"} in the ledger, since it is COMPLETED`,
          numbersOf(effects),
        );
      }
    }
    if ((step.status === "PENDING" || step.status === "SKIPPED") && effects.length > 0) {
      report("lost", step._id, `no effect, since it is ${step.status}`, numbersOf(effects));
    }
  }

  for (const [id, effects] of effectsOf) {
    const step = units.get(id);
    if (step === undefined) report("lost", id, "a record of a step that had an effect", "none");
    const keys = new Set(effects.map(({ key }) => key).filter((key) => key !== id));
    if (keys.size > 0) report("duplicated", id, "its own key with every call", [...keys].join(", "));
    if (new Set(effects.map(({ argsHash }) => argsHash)).size > 1) {
      report("regressions", id, "the same arguments in every attempt", `others for ${numbersOf(effects)}`);
    }
    for (const entry of effects)
      for (const wrong of wrongInputs(entry, id, units)) report("regressions", ...wrong);
  }
  // What a client handed in twice under one key is one request.
  for (const [label, effects] of groupBy(ledger, labelIn)) {
    const planIds = new Set(effects.map(planOf));
    if (planIds.size > 1)
      report("duplicated", label ?? "?", "one plan for one idempotency key", [...planIds].join(", "));
  }
  return { violations, replays, inDoubt };
}

/** Inputs of a call that are not what the step before it is recorded to have put out. */
function wrongInputs(
  { arguments: args, effect }: LedgerEntry,
  id: string,
  units: ReadonlyMap<string, FinalStep>,
): [id: string, expected: string, found: string][] {
  const value = args["value"];
  const from = isJsonObject(value) ? value["from"] : undefined;
  if (!isJsonObject(from)) return [];
  const planId = id.slice(0, id.indexOf("/"));
  return Object.entries(from).flatMap(([dependency, used]): [string, string, string][] => {
    const output = units.get(`${planId}/${dependency}`)?.output;
    const recorded = effectOf(output) ?? labelOfOutput(output);
    if (recorded === used) return [];
    return [[id, `effect ${effect} with ${String(recorded)} from ${dependency}`, JSON.stringify(used)]];
  });
}

/** `{planId}/{step key}`: the plan as the key has it, the step as the arguments have it. */
function unitOf(entry: LedgerEntry): string {
  const label = labelIn(entry) ?? "?/?";
  return `${planOf(entry)}/${label.slice(label.indexOf("/") + 1)}`;
}

function planOf({ key }: LedgerEntry): string {
  return key === null ? "no plan" : key.slice(0, key.indexOf("/"));
}

function labelIn({ arguments: args }: LedgerEntry): string | undefined {
  return labelOfOutput(args);
}

/** The label in anything of the form `{value: {label}}`: arguments and outputs of the counting tools. */
function labelOfOutput(output: unknown): string | undefined {
  const value = isObject(output) ? output["value"] : undefined;
  return isObject(value) && typeof value["label"] === "string" ? value["label"] : undefined;
}

function effectOf(output: unknown): number | undefined {
  return isObject(output) && typeof output["effect"] === "number" ? output["effect"] : undefined;
}

function isObject(value: unknown): value is { [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numbersOf(effects: readonly LedgerEntry[]): string {
  return effects.length === 0 ? "no effect" : `effects ${effects.map(({ effect }) => effect).join(", ")}`;
}
