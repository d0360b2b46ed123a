/**
 * Runs the whole system as real processes under faults, and checks the evidence.
 *
 * npm run chaos -- [--plans 200] [--faults 30] [--seed 7] [--json] [--keep]
 *
 * Data and logs are kept when a violation is found, and with `--keep`. The seed fixes plans, faults and their
 * times, but not how the machine schedules processes: a run repeats the inputs, not the events.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UnexpectedEnd } from "@planwright/local";
import { startModelServer } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { print, printJson, say } from "../command/developer-command.ts";
import { createRandom } from "../random/random.ts";
import { waitForTools } from "../servers/servers.ts";
import { CHAOS_TOOLS, TENANTS } from "./chaos-plan.ts";
import { type Evidence, percentile, recoveriesOf } from "./evidence.ts";
import { makePlan, makeToolScript, scriptedModel } from "./make-plan.ts";
import { listsOf } from "./oracle/check-lists.ts";
import { checkRun, type Verdict } from "./oracle/check-run.ts";
import { versionsByRequest } from "./oracle/plan-versions.ts";
import { type Observed, playOut } from "./play-out.ts";
import { type ChaosSettings, readSettings } from "./settings.ts";
import { hasExecutor, startSystem } from "./system.ts";

const settings = readSettings(process.argv.slice(2));
const startedAt = performance.now();
const sayWithTime = (line: string): void => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  say(`${seconds.padStart(6)} s  ${line}`);
};

/** Time limit of a run, in milliseconds: twice the duration of the largest usual runs. */
const LIMIT_MS = 20 * 60_000;
setTimeout(() => {
  sayWithTime("The run has reached its time limit and is stopped");
  process.exit(1);
}, LIMIT_MS).unref();

const random = createRandom(settings.seed);
const plans = Array.from({ length: settings.plans }, (_, index) =>
  makePlan(random.stream(`plan ${index}`), index),
);
const folder = await mkdtemp(join(tmpdir(), "planwright-chaos-"));
let hasPassed = false;
try {
  const { report, verdict } = await runChaos();
  for (const { kind, id, expected, found } of verdict.violations) {
    sayWithTime(`${kind}: ${id}: expected ${expected}; found ${found}`);
  }
  hasPassed = verdict.passed;
  const result = { ...report, durationMs: Math.round(performance.now() - startedAt) };
  if (settings.json) printJson(result);
  else for (const [name, value] of Object.entries(result)) print(`${name}: ${JSON.stringify(value)}`);
} finally {
  if (hasPassed && !settings.keep) await rm(folder, { recursive: true, force: true });
  else sayWithTime(`Data and logs are kept in ${folder}`);
}
process.exit(hasPassed ? 0 : 1);

/** Runs the plans under faults, ends all processes, and judges the evidence. */
async function runChaos(): Promise<{ report: Report; verdict: Verdict }> {
  const crashes: UnexpectedEnd[] = [];
  const model = await startModelServer({ script: scriptedModel(random.stream("model"), plans) });
  let toolStarts = 0;
  const system = await startSystem({
    folder,
    layout: settings.layout,
    deadAfterMs: settings.deadAfterMs,
    planTimeoutMs: settings.planTimeoutMs,
    modelUrl: model.openAiUrl,
    toolScript: () => makeToolScript(random.stream(`tools ${toolStarts++}`)),
    onCrash: (crash) => {
      crashes.push(crash);
      sayWithTime(`${crash.name} ${crash.how}${crash.wasReady ? "" : " before it was ready"}`);
    },
  });
  const mongo = await MongoClient.connect(system.mongodbUrl, { serverSelectionTimeoutMS: 60_000 });
  try {
    for (const url of system.apiUrls) await waitForTools(url, Object.keys(CHAOS_TOOLS));
    sayWithTime("everything is running");
    const observed = await playOut({ settings, plans, random, system, mongo, say: sayWithTime });
    const verdict = checkRun(observed.evidence);
    if (!verdict.passed || settings.keep)
      await writeFile(join(folder, "evidence.json"), JSON.stringify(observed.evidence));
    for (const line of endsToNote(observed.evidence)) sayWithTime(line);
    return { report: createReport({ ...observed, settings, crashes, verdict }), verdict };
  } finally {
    await mongo.close();
    await system.stop();
    await model.close();
  }
}

/** Lines about plans and requests that ended in an allowed way that needs attention. Pure. */
function endsToNote({ plans, requests }: Pick<Evidence, "plans" | "requests">): string[] {
  return [
    ...requests.flatMap(({ _id, status, error }) =>
      status === "FAILED" && error !== null ? [`${_id} was not planned: ${error.code}`] : [],
    ),
    ...plans.flatMap(({ _id, error }) => (error?.code === "POISONED" ? [`${_id} ended as POISONED`] : [])),
  ];
}

/** The figures of a run. The seven figures after `faults` must be 0. */
interface Report {
  seed: number;
  layout: ChaosSettings["layout"];
  plans: number;
  /** Steps, and items of forEach steps. */
  steps: number;
  faults: number;
  lost: number;
  duplicated: number;
  unfinished: number;
  regressions: number;
  staleWrites: number;
  lists: number;
  /** Readings and documents that differ from the journals. */
  unlikeJournal: number;
  /** Steps that wait for an operator because the effect of a call is unknown. */
  inDoubt: number;
  /** Effects of repeatable tools beyond the first. */
  replays: number;
  /** SIGKILLs of executors, and the plans that these executors held at that moment. */
  executorKills: number;
  inFlight: number;
  /** Number of these plans that were claimed again; the others ended with what was written at that moment. */
  recovered: number;
  /** Time from the SIGKILL until that claim, in milliseconds. */
  recoverP50Ms: number | null;
  recoverP99Ms: number | null;
  effects: number;
  /** Plans by their end. `waiting`: plans that wait for an operator, or expired while they waited for one. */
  completed: number;
  partial: number;
  failed: number;
  expired: number;
  cancelled: number;
  waiting: number;
  /** Lists that ended with items that did not complete. */
  brokenLists: number;
  /** Versions made by clients, by what they asked for, and those of them that completed. */
  reruns: number;
  retries: number;
  amendments: number;
  restores: number;
  changedCompleted: number;
  /** Versions that clients asked for with steps that may be called again. */
  accepted: number;
  /** Time from the storing of a plan to its first claim, at the 95th percentile, by tenant, in milliseconds. */
  startP95Ms: { [tenant: string]: number | null };
  /** Requests whose planning failed. */
  notPlanned: number;
  /** Those of `failed` that killed several executors. */
  poisoned: number;
  resubmissions: number;
  /** For how long plans and faults waited because the machine was behind, in milliseconds. */
  heldMs: number;
  /** Services that ended unexpectedly after they were ready. */
  crashes: number;
  /** Number of unexpected errors of the API, by code and message. */
  oddErrors: { [description: string]: number };
}

/** Creates the report of a run. */
function createReport(
  run: Observed & { settings: ChaosSettings; crashes: readonly UnexpectedEnd[]; verdict: Verdict },
): Report {
  const { evidence, settings, crashes, verdict, kills } = run;
  const { accepted, plans, steps, ledger, changes, requests } = evidence;
  const acceptedPlans = new Set(accepted.map(({ planId }) => planId));
  const firstVersions = plans.filter(({ _id }) => acceptedPlans.has(_id));
  const laterVersions = plans.filter(({ version }) => version > 1);
  const ended = (status: string): number => firstVersions.filter((plan) => plan.status === status).length;
  const asked = (kind: string): number => evidence.asked.filter((version) => version.kind === kind).length;
  const inDoubt = new Set(steps.filter(({ status }) => status === "IN_DOUBT").map(({ planId }) => planId));
  const expiredInDoubt = firstVersions.filter(
    ({ _id, status }) => status === "EXPIRED" && inDoubt.has(_id),
  ).length;
  const executorKills = kills.filter(({ target }) => hasExecutor(target));
  const { inFlight, times } = recoveriesOf(changes, executorKills);
  return {
    seed: settings.seed,
    layout: settings.layout,
    plans: accepted.length,
    steps: steps.length,
    faults: run.faults,
    ...verdict.counts,
    inDoubt: verdict.inDoubt,
    replays: verdict.replays,
    executorKills: executorKills.length,
    inFlight,
    recovered: times.length,
    recoverP50Ms: percentile(times, 0.5),
    recoverP99Ms: percentile(times, 0.99),
    effects: ledger.length,
    completed: ended("COMPLETED"),
    partial: ended("PARTIAL"),
    failed: ended("FAILED"),
    expired: ended("EXPIRED") - expiredInDoubt,
    cancelled: ended("CANCELLED"),
    waiting: ended("WAITING") + expiredInDoubt,
    brokenLists: brokenLists(evidence),
    reruns: asked("rerun"),
    retries: asked("retry"),
    amendments: asked("amend"),
    restores: asked("restore"),
    accepted: evidence.asked.filter(({ acceptRepeat }) => acceptRepeat.length > 0).length,
    startP95Ms: startTimes(evidence),
    changedCompleted: laterVersions.filter(({ status }) => status === "COMPLETED").length,
    notPlanned: requests.filter(({ status, error }) => status === "FAILED" && error !== null).length,
    poisoned: firstVersions.filter(({ error }) => error?.code === "POISONED").length,
    resubmissions: run.resubmissions,
    heldMs: run.heldMs,
    crashes: crashes.filter(({ wasReady }) => wasReady).length,
    oddErrors: Object.fromEntries(run.oddErrors),
  };
}

function startTimes({ plans, changes }: Evidence): Report["startP95Ms"] {
  const stored = new Map<string, number>();
  const waited = new Map<string, number>();
  for (const { id, collection, type, at, epoch = 0 } of changes) {
    if (collection !== "plans") continue;
    if (type === "insert") stored.set(id, at);
    if (epoch > 0 && !waited.has(id)) waited.set(id, at - (stored.get(id) ?? at));
  }
  const timesOf = (tenant: string): number[] =>
    plans
      .filter((plan) => plan.version === 1 && plan.tenant === tenant)
      .flatMap(({ _id }) => waited.get(_id) ?? []);
  return Object.fromEntries(
    Object.keys(TENANTS).map((tenant) => [
      tenant,
      percentile(
        timesOf(tenant).toSorted((a, b) => a - b),
        0.95,
      ),
    ]),
  );
}

function brokenLists(evidence: Evidence): number {
  const lists = [...versionsByRequest(evidence).values()].flat().flatMap(listsOf);
  return lists.filter(
    ({ unit, items, planned }) =>
      (unit.status === "COMPLETED" || unit.status === "FAILED") &&
      items.filter(({ status }) => status === "COMPLETED").length < planned.length,
  ).length;
}
