import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { readCallLog, readLedger } from "@planwright/testing";
import type { MongoClient } from "mongodb";
import type { Random } from "../../random/random.ts";
import type { AskedControl, AskedRerun, Evidence, SeenReading, Violation } from "../evidence/evidence.ts";
import { plansHeld } from "../evidence/plan-holders.ts";
import { type Reading, regressionsBetween } from "../evidence/reading.ts";
import type { ChaosPlan } from "../plans/chaos-plan.ts";
import type { System } from "../system/system.ts";
import { type Accepted, type ApiClient, createApiClient } from "./api-client.ts";
import { startChangeLog } from "./change-log.ts";
import { createFaultInjector, type Kill } from "./fault-injector.ts";
import { makeFaultSchedule } from "./fault-schedule.ts";
import { readAtRest, readLastSeqs } from "./read-evidence.ts";
import { watchRequest } from "./request-watch.ts";
import { runAgain } from "./run-again.ts";
import type { Settings } from "./settings.ts";

/** What a run needs. */
export interface RunDependencies {
  settings: Settings;
  plans: readonly ChaosPlan[];
  random: Random;
  system: System;
  /** Past the proxies. */
  mongo: MongoClient;
  say: (line: string) => void;
}

/** The result of a run: its evidence, and counts for the report. */
export interface Observed {
  evidence: Evidence;
  kills: readonly Kill[];
  faults: number;
  resubmissions: number;
  oddErrors: ReadonlyMap<string, number>;
}

/**
 * How long the clients wait after the deadline of a plan, in milliseconds: for its end, and for its request,
 * which follows.
 */
const GRACE_MS = 45_000;
const PROGRESS_EVERY_MS = 5_000;
const READS_AT_ONCE = 16;
const LAST_READ_TIMEOUT_MS = 15_000;
/** Share of the clients that submit again after an answer. */
const FORGETFUL_SHARE = 0.1;
/** Share of the submitted plans that are cancelled, and how long after the submission at most. */
const CANCELLED_SHARE = 0.2;
const CANCELLED_WITHIN_MS = 1_500;
/** Share of the plans that come in bursts. */
const BURST_SHARE = 0.3;
/** The name of a client in an API without keys. */
const CLIENT = "anonymous";

/** Submits plans while faults happen, watches all of them to their end, and collects the evidence. */
export async function playOut({
  settings,
  plans,
  random,
  system,
  mongo,
  say,
}: RunDependencies): Promise<Observed> {
  const log = await startChangeLog(mongo);
  const client = createApiClient(system.apiUrl);
  const accepted: Accepted[] = [];
  const seen: Violation[] = [];
  const reruns: AskedRerun[] = [];
  const controls: AskedControl[] = [];
  const readings: SeenReading[] = [];
  const report = (violation: Violation): void => {
    seen.push(violation);
    say(`${violation.kind}: ${violation.id}: ${violation.found}`);
  };
  const injector = createFaultInjector({
    system,
    random: random.stream("jobs"),
    plansHeld: () => plansHeld(log.changes),
    knownPlanIds: () => accepted.map(({ planId }) => planId),
    say,
  });
  const { faults: count, withinMs, deadAfterMs } = settings;
  const schedule = makeFaultSchedule(random.stream("faults"), { count, withinMs, deadAfterMs });

  const cancel = async (requestId: string): Promise<void> => {
    const asked: AskedControl = {
      requestId,
      type: "cancel.asked",
      subject: "the plan",
      by: CLIENT,
      planId: null,
    };
    controls.push(asked);
    asked.planId = await client.cancel(requestId);
  };

  let settled = 0;
  const progress = setInterval(
    () => say(`${accepted.length} of ${plans.length} plans accepted, ${settled} settled`),
    PROGRESS_EVERY_MS,
  );
  const over = new AbortController();
  const last = new Map<Accepted, Reading>();
  const watches: Promise<void>[] = [];
  const watch = async (ids: Accepted): Promise<void> => {
    const own = random.stream(`watch ${ids.index}`);
    const { requestId } = ids;
    let before: Reading | undefined;
    const see = (reading: Reading): void => {
      if (!isDeepStrictEqual(reading, before)) readings.push({ requestId, reading, afterSeq: 0 });
      before = reading;
    };
    const look = () => watchRequest({ client, accepted: ids, random: own, see, report, signal: over.signal });
    const reading = await look();
    const { signal } = over;
    const isAnew =
      reading !== undefined && (await runAgain({ client, ids, reading, random: own, reruns, signal }));
    const end = isAnew ? await look() : reading;
    if (end !== undefined) last.set(ids, end);
    settled += 1;
  };
  const times = submissionTimes(random.stream("pace"), plans.length, withinMs);
  const submit = async (plan: ChaosPlan): Promise<void> => {
    await delay(times[plan.index] ?? 0);
    const ids = await client.submit(plan);
    accepted.push(ids);
    watches.push(watch(ids));
    const fate = random.stream(`cancel ${plan.index}`);
    if (plan.via === "plan" && fate.chance(CANCELLED_SHARE))
      watches.push(delay(fate.whole(0, CANCELLED_WITHIN_MS)).then(() => cancel(ids.requestId)));
    if (random.stream(`again ${plan.index}`).chance(FORGETFUL_SHARE))
      await submitAgain(client, plan, ids, { reruns, report });
  };
  try {
    await Promise.all([injector.run(schedule), ...plans.map(submit)]);
    say("every fault is undone, every plan is accepted");
    const giveUp = setTimeout(() => over.abort(), settings.planTimeoutMs + GRACE_MS);
    await Promise.all(watches);
    clearTimeout(giveUp);
  } finally {
    clearInterval(progress);
    await injector.close();
  }
  say("a last reading of every request");
  // Documents follow their entries after a while.
  await readAtRest(mongo);
  const durable = await readLastSeqs(mongo);
  const left = [...accepted];
  const lookOn = async (): Promise<void> => {
    for (let ids = left.pop(); ids !== undefined; ids = left.pop()) {
      const reading = await lookAgain(client, ids, last.get(ids), report);
      const { requestId } = ids;
      if (reading) readings.push({ requestId, reading, afterSeq: durable.get(requestId) ?? 0 });
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, lookOn));
  const documents = await readAtRest(mongo);
  await log.finish();
  const evidence: Evidence = {
    ...documents,
    accepted,
    changes: log.changes,
    ledger: await readLedger(system.ledgerFile),
    calls: await readCallLog(system.callsFile),
    reruns,
    controls,
    readings,
    seen,
  };
  const { oddErrors } = client;
  return {
    evidence,
    kills: injector.kills,
    faults: schedule.length,
    resubmissions: client.resubmissions(),
    oddErrors,
  };
}

/** When each plan is submitted, in milliseconds: some alone, some in bursts. */
function submissionTimes(random: Random, count: number, withinMs: number): number[] {
  const bursts = Array.from({ length: 5 }, () => random.next());
  return Array.from({ length: count }, () => {
    const share = random.chance(BURST_SHARE) ? random.pick(bursts) : random.next();
    return share * withinMs;
  });
}

/** The same submission again returns the same ids; after a rerun, the current plan. */
async function submitAgain(
  client: ApiClient,
  plan: ChaosPlan,
  { requestId, planId }: Accepted,
  { reruns, report }: { reruns: readonly AskedRerun[]; report: (violation: Violation) => void },
): Promise<void> {
  const again = await client.submit(plan);
  const wasRunAgain = reruns.some((asked) => asked.requestId === requestId);
  if (again.requestId === requestId && (again.planId === planId || wasRunAgain)) return;
  const found = `${again.requestId} and ${again.planId}`;
  report({ kind: "duplicated", id: requestId, expected: "the same ids for the same key", found });
}

/**
 * Checks that a watched request has not changed since its end. Resolves with the last reading; undefined
 * without an answer.
 */
async function lookAgain(
  client: ApiClient,
  { requestId }: Accepted,
  before: Reading | undefined,
  report: (violation: Violation) => void,
): Promise<Reading | undefined> {
  const deadlineAt = performance.now() + LAST_READ_TIMEOUT_MS;
  const found = (words: string): void =>
    report({ kind: "regressions", id: requestId, expected: "nothing to go back", found: words });
  for (;;) {
    const after = await client.read(requestId, { attempts: true });
    if (after !== undefined) {
      for (const words of before === undefined ? [] : regressionsBetween(before, after)) found(words);
      return after;
    }
    if (performance.now() > deadlineAt) {
      found("no answer although every fault is undone");
      return undefined;
    }
    await delay(100);
  }
}
