import type { LedgerEntry } from "@planwright/testing";
import { latenciesOf } from "./figures.ts";

/** How a plan stands. `waits`: steps of it may have acted, and a person has to decide. */
type PlanState = "running" | "completed" | "failed" | "waits" | "unknown";

/** A plan that the system accepted. */
export interface AcceptedPlan {
  /** Chosen by the client; its calls carry it. */
  name: string;
  /** Unix milliseconds, as all times here. */
  acceptedAt: number;
  /** As its client saw it last; `at` is when it saw this state first. */
  last: { state: PlanState; at: number };
  /** Its steps that the system reports as completed. */
  completed: readonly string[];
  /** Its steps that may have acted, as the system reports them. */
  inDoubt: readonly string[];
}

/** A SIGKILL of a process. */
export interface KilledProcess {
  target: string;
  at: number;
  /** Names of the plans that were accepted and had not ended. */
  inFlight: readonly string[];
}

/** What a run with kills showed. */
export interface KillRun {
  plans: readonly AcceptedPlan[];
  kills: readonly KilledProcess[];
  /** Effects whose argument `value` is that of {@link effectOf}. */
  ledger: readonly Pick<LedgerEntry, "arguments" | "at">[];
}

/** The figures of a run. */
export interface KillFigures {
  kills: number;
  plans: number;
  completed: number;
  /** Plans that ended without completing. */
  failed: number;
  /** Plans in flight, summed over the kills: a plan that survives two kills counts twice. */
  inFlight: number;
  /** Those of them that completed. */
  recovered: number;
  /** Time from the kill until they had completed, later kills included. */
  recoverP50Ms: number;
  recoverP99Ms: number;
  /** Accepted plans that the system does not know or that did not end; completed steps without an effect. */
  lost: number;
  /** Effects of a step beyond its first. */
  doubled: number;
  /** Plans that wait for a person, and their steps that may have acted: those that did not, and those that did. */
  waits: number;
  inDoubtWithout: number;
  inDoubtWith: number;
}

/** The argument `value` of a step's call, which names the effect. */
export const effectOf = (plan: string, step: string): string => `${plan}/${step}`;

/** The name of an effect. */
export function nameOf({ arguments: { value } }: Pick<LedgerEntry, "arguments">): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The figures of a run, or of some of its plans. Pure. @param isCounted - by the name of a plan; default: all */
export function killFiguresOf(run: KillRun, isCounted: (plan: string) => boolean = () => true): KillFigures {
  const plans = run.plans.filter(({ name }) => isCounted(name));
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const hits = run.kills.flatMap(({ at, inFlight }) =>
    inFlight.flatMap((name) => {
      const plan = byName.get(name);
      return plan ? [{ killedAt: at, plan }] : [];
    }),
  );
  const recovered = hits.filter(({ plan }) => plan.last.state === "completed");
  const times = latenciesOf(recovered.map(({ killedAt, plan }) => plan.last.at - killedAt));
  const stateOf = (state: PlanState) => plans.filter(({ last }) => last.state === state);
  const effects = effectCounts(run.ledger);
  const made = (name: string, step: string) => effects.get(effectOf(name, step)) ?? 0;
  const without = (steps: (plan: AcceptedPlan) => readonly string[]) =>
    sum(plans.map((plan) => steps(plan).filter((step) => made(plan.name, step) === 0).length));
  const inDoubtWithout = without(({ inDoubt }) => inDoubt);
  const repeated = [...effects].filter(([effect]) => isCounted(effect.slice(0, effect.lastIndexOf("/"))));
  return {
    kills: run.kills.length,
    plans: plans.length,
    completed: stateOf("completed").length,
    failed: stateOf("failed").length,
    inFlight: hits.length,
    recovered: recovered.length,
    recoverP50Ms: times.p50Ms,
    recoverP99Ms: times.p99Ms,
    lost: stateOf("unknown").length + stateOf("running").length + without(({ completed }) => completed),
    doubled: sum(repeated.map(([, count]) => count - 1)),
    waits: stateOf("waits").length,
    inDoubtWithout,
    inDoubtWith: sum(plans.map(({ inDoubt }) => inDoubt.length)) - inDoubtWithout,
  };
}

/** The kills of each target, with the times to recover of the plans in flight at them. Pure. */
export function byTarget(
  run: KillRun,
): Record<string, Pick<KillFigures, "kills" | "recoverP50Ms" | "doubled">> {
  const targets = [...new Set(run.kills.map(({ target }) => target))].toSorted();
  const repeats = repeatsOf(run.ledger);
  const killBefore = (at: number) => run.kills.findLast((kill) => kill.at <= at)?.target;
  return Object.fromEntries(
    targets.map((target) => {
      const kills = run.kills.filter((kill) => kill.target === target);
      const { recoverP50Ms } = killFiguresOf({ ...run, kills });
      const doubled = repeats.filter(({ at }) => killBefore(at) === target).length;
      return [target, { kills: kills.length, recoverP50Ms, doubled }];
    }),
  );
}

function effectCounts(ledger: KillRun["ledger"]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of ledger) {
    const effect = nameOf(entry);
    counts.set(effect, (counts.get(effect) ?? 0) + 1);
  }
  return counts;
}

/** Entries of the ledger whose effect was there before. Pure. */
export function repeatsOf(ledger: KillRun["ledger"]): KillRun["ledger"] {
  const seen = new Set<string>();
  return ledger.filter((entry) => {
    const effect = nameOf(entry);
    const isRepeat = seen.has(effect);
    seen.add(effect);
    return isRepeat;
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
