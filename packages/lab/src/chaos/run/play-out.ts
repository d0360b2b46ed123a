import { readCallLog, readLedger } from "@planwright/testing";
import type { MongoClient } from "mongodb";
import type { Random } from "../../random/random.ts";
import type { Evidence, Violation } from "../evidence/evidence.ts";
import { plansHeld } from "../evidence/plan-holders.ts";
import type { ChaosPlan } from "../plans/chaos-plan.ts";
import type { System } from "../system/system.ts";
import { createApiClient } from "./api-client.ts";
import { startChangeLog } from "./change-log.ts";
import { createFaultInjector, type Kill } from "./fault-injector.ts";
import { makeFaultSchedule } from "./fault-schedule.ts";
import { takeLastReadings } from "./last-readings.ts";
import { createPlanClients } from "./plan-clients.ts";
import { readAtRest, readLastSeqs } from "./read-evidence.ts";
import type { Settings } from "./settings.ts";

/** Dependencies of a run. */
export interface RunDependencies {
  settings: Settings;
  plans: readonly ChaosPlan[];
  random: Random;
  system: System;
  /** Connected directly, without a proxy. */
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
 * How long the clients wait after the deadline of a plan, in milliseconds: for the plan's end, and for the
 * request's end, which follows.
 */
const GRACE_MS = 45_000;
const PROGRESS_EVERY_MS = 5_000;

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
  const seen: Violation[] = [];
  const report = (violation: Violation): void => {
    seen.push(violation);
    say(`${violation.kind}: ${violation.id}: ${violation.found}`);
  };
  const watching = new AbortController();
  const pace = { withinMs: settings.withinMs, signal: watching.signal };
  const clients = createPlanClients({ client, random, report, plans: plans.length, ...pace });
  const { accepted } = clients;
  const injector = createFaultInjector({
    system,
    random: random.stream("jobs"),
    plansHeld: () => plansHeld(log.changes),
    knownPlanIds: () => accepted.map(({ planId }) => planId),
    say,
  });
  const { faults: count, withinMs, deadAfterMs } = settings;
  const schedule = makeFaultSchedule(random.stream("faults"), { count, withinMs, deadAfterMs });

  const progress = setInterval(() => say(clients.progress()), PROGRESS_EVERY_MS);
  try {
    await Promise.all([injector.run(schedule), ...plans.map((plan) => clients.submit(plan))]);
    say("all faults are undone, all plans are accepted");
    const watchTimeout = setTimeout(() => watching.abort(), settings.planTimeoutMs + GRACE_MS);
    await clients.settled();
    clearTimeout(watchTimeout);
  } finally {
    clearInterval(progress);
    await injector.close();
  }
  say("reads every request a last time");
  // Documents are written some time after their entries.
  await readAtRest(mongo);
  const durable = await readLastSeqs(mongo);
  const lastReadings = await takeLastReadings({ client, accepted, last: clients.last, durable, report });
  const documents = await readAtRest(mongo);
  await log.finish();
  const evidence: Evidence = {
    ...documents,
    accepted,
    changes: log.changes,
    ledger: await readLedger(system.ledgerFile),
    calls: await readCallLog(system.callsFile),
    reruns: clients.reruns,
    controls: clients.controls,
    readings: [...clients.readings, ...lastReadings],
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
