import { readCallLog, readLedger } from "@planwright/testing";
import type { MongoClient } from "mongodb";
import type { Random } from "../../random/random.ts";
import type { Evidence, Violation } from "../evidence/evidence.ts";
import { plansHeld } from "../evidence/plan-holders.ts";
import type { ChaosPlan, Tenant } from "../plans/chaos-plan.ts";
import type { System } from "../system/system.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { type ChangeLog, startChangeLog } from "./change-log.ts";
import { createFaultInjector, type Kill } from "./fault-injector.ts";
import { makeFaultSchedule } from "./fault-schedule.ts";
import { takeLastReadings } from "./last-readings.ts";
import { startPace } from "./pace.ts";
import { createPlanClients, type PlanClients } from "./plan-clients.ts";
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
  /** For how long plans and faults waited because too many plans were open, in milliseconds. */
  heldMs: number;
  oddErrors: ReadonlyMap<string, number>;
}

/**
 * How long the clients wait after the deadline of a plan, in milliseconds: for the plan's end, and for the
 * request's end, which follows.
 */
const GRACE_MS = 45_000;
const PROGRESS_EVERY_MS = 5_000;
/** While more plans are open, neither plans nor faults are added. The bursts of 1,000 plans have 60 each. */
const MAX_OPEN = 100;

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
  const { apiUrl, keys } = system;
  const clientOf: Record<Tenant, ApiClient> = {
    large: createApiClient(apiUrl, keys.large),
    middle: createApiClient(apiUrl, keys.middle),
    small: createApiClient(apiUrl, keys.small),
  };
  const seen: Violation[] = [];
  const report = (violation: Violation): void => {
    seen.push(violation);
    say(`${violation.kind}: ${violation.id}: ${violation.found}`);
  };
  const watching = new AbortController();
  const pace = startPace(() => clients.open() > MAX_OPEN);
  const clients = createPlanClients({
    clientOf,
    plans: plans.length,
    random,
    withinMs: settings.withinMs,
    until: pace.until,
    report,
    signal: watching.signal,
  });
  const { accepted } = clients;
  const injector = createFaultInjector({
    system,
    random: random.stream("jobs"),
    plansHeld: () => plansHeld(log.changes),
    until: pace.until,
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
    pace.stop();
    clearInterval(progress);
    await injector.close();
  }
  say("reads every request a last time");
  const evidence = await takeEvidence({ system, mongo, clientOf, clients, log, seen, report });
  const all = Object.values(clientOf);
  return {
    evidence,
    kills: injector.kills,
    faults: schedule.length,
    resubmissions: all.reduce((sum, client) => sum + client.resubmissions(), 0),
    heldMs: pace.heldMs(),
    oddErrors: new Map(all.flatMap(({ oddErrors }) => [...oddErrors])),
  };
}

/** Reads every request a last time, and collects what the run left. */
async function takeEvidence({
  system,
  mongo,
  clientOf,
  clients,
  log,
  seen,
  report,
}: Pick<RunDependencies, "system" | "mongo"> & {
  clientOf: Readonly<Record<Tenant, ApiClient>>;
  clients: PlanClients;
  log: ChangeLog;
  seen: Violation[];
  report: (violation: Violation) => void;
}): Promise<Evidence> {
  const { accepted, last } = clients;
  // Documents are written some time after their entries.
  await readAtRest(mongo);
  const durable = await readLastSeqs(mongo);
  const lastReadings = await takeLastReadings({ clientOf, accepted, last, durable, report });
  const documents = await readAtRest(mongo);
  await log.finish();
  return {
    ...documents,
    accepted,
    changes: log.changes,
    ledger: await readLedger(system.ledgerFile),
    calls: await readCallLog(system.callsFile),
    asked: clients.asked,
    controls: clients.controls,
    readings: [...clients.readings, ...lastReadings],
    seen,
  };
}
