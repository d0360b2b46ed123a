import { setTimeout as delay } from "node:timers/promises";
import { latenciesOf } from "../../measuring/latencies.ts";
import { cpuMsPerPlan, cpuSeconds } from "../../measuring/process-cpu.ts";
import { rounded } from "../../measuring/statistics.ts";
import { type Contender, PlanNotCompletedError } from "../contenders/contender.ts";

/** The figures of a run; all of them are per plan, except `plans` and `plansPerSecond`. */
export interface Figures {
  plans: number;
  plansPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** By process name. */
  cpuMs: Record<string, number>;
  /** Counters of the servers; empty when not known. */
  counts: Record<string, number>;
}

/** Far more than a plan takes on an overloaded machine: a plan that takes longer counts as lost. */
const MAX_PLAN_MS = 60_000;

/** Options of {@link measure}. */
export interface Load {
  inFlight: number;
  /** Plans that start within this time are awaited and counted. */
  forMs: number;
  /** Maximum number of plans; default: no limit. */
  maxPlans?: number;
}

/** Runs plans of a contender in `inFlight` concurrent loops. */
export async function measure(
  contender: Contender,
  { inFlight, forMs, maxPlans = Number.POSITIVE_INFINITY }: Load,
): Promise<Figures> {
  const { processes, counts = () => Promise.resolve({}) } = contender;
  const countsBefore: Record<string, number> = await counts();
  const cpuBefore = cpuSeconds(processes);
  const beganAt = performance.now();
  const durations: number[] = [];
  let begun = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let askedAt = beganAt; askedAt < beganAt + forMs; askedAt = performance.now()) {
        if (begun === maxPlans) return;
        begun += 1;
        await runInTime(contender);
        durations.push(performance.now() - askedAt);
      }
    }),
  );
  const tookMs = performance.now() - beganAt;
  const cpuAfter = cpuSeconds(processes);
  const countsAfter: Record<string, number> = await counts();
  const plans = durations.length;
  const { p50Ms, p99Ms } = latenciesOf(durations);
  return {
    plans,
    plansPerSecond: rounded((plans * 1_000) / tookMs, 1),
    p50Ms,
    p99Ms,
    cpuMs: cpuMsPerPlan(cpuBefore, cpuAfter, plans),
    counts: Object.fromEntries(
      Object.entries(countsAfter).map(([name, count]) => [
        name,
        rounded((count - (countsBefore[name] ?? 0)) / plans, 1),
      ]),
    ),
  };
}

/** Runs one plan. @throws {PlanNotCompletedError} also when it does not end in time */
async function runInTime(contender: Contender): Promise<void> {
  const done = new AbortController();
  const late = async (): Promise<void> => {
    await delay(MAX_PLAN_MS, undefined, { signal: done.signal });
    throw new PlanNotCompletedError({ contender: contender.name, reason: `no end after ${MAX_PLAN_MS} ms` });
  };
  await Promise.race([contender.runPlan(), late()]).finally(() => done.abort());
}
