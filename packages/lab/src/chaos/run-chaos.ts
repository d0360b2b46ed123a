import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { UnexpectedEnd } from "@planwright/local";
import { startModelServer } from "@planwright/testing";
import { MongoClient } from "mongodb";
import type { Random } from "../random/random.ts";
import { waitForTools } from "../servers/servers.ts";
import { CHAOS_TOOLS, type ChaosPlan, TENANTS } from "./chaos-plan.ts";
import { type Evidence, isReleased, type PlanChange, pidOf } from "./evidence.ts";
import { makeToolScript, scriptedModel } from "./make-plan.ts";
import { listsOf } from "./oracle/check-lists.ts";
import { checkRun, type Verdict } from "./oracle/check-run.ts";
import { versionsByRequest } from "./oracle/plan-versions.ts";
import { type Observed, playOut } from "./play-out.ts";
import type { ChaosSettings } from "./settings.ts";
import { hasExecutor, startSystem } from "./system.ts";

/** Options of {@link runChaos}. */
interface ChaosOptions {
  settings: ChaosSettings;
  plans: readonly ChaosPlan[];
  random: Random;
  /** Folder for data, logs and the ledger. */
  folder: string;
  /** Receives lines about the progress. */
  say: (line: string) => void;
}

/** Runs plans under faults, ends all processes, and judges the evidence. */
export async function runChaos(options: ChaosOptions): Promise<{ report: Report; verdict: Verdict }> {
  const { settings, plans, random, folder, say } = options;
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
      say(`${crash.name} ${crash.how}${crash.wasReady ? "" : " before it was ready"}`);
    },
  });
  const mongo = await MongoClient.connect(system.mongodbUrl, { serverSelectionTimeoutMS: 60_000 });
  try {
    for (const url of system.apiUrls) await waitForTools(url, Object.keys(CHAOS_TOOLS));
    say("everything is running");
    const observed = await playOut({ settings, plans, random, system, mongo, say });
    const verdict = checkRun(observed.evidence);
    if (!verdict.passed || settings.keep)
      await writeFile(join(folder, "evidence.json"), JSON.stringify(observed.evidence));
    for (const line of endsToNote(observed.evidence)) say(line);
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

/** A process that was killed. */
interface KilledProcess {
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/** What became of the plans that killed executors held. */
interface Recoveries {
  /** Number of these plans; one counts again when its next executor is killed too. */
  inFlight: number;
  /**
   * From the kill until another executor claimed the plan, in milliseconds, ascending. A plan whose end was being
   * written when the process died needs no executor and has no time.
   */
  times: number[];
}

/** Reads the recoveries from the changes of plans, in their order. Pure. */
export function recoveriesOf(changes: readonly PlanChange[], kills: readonly KilledProcess[]): Recoveries {
  const times: number[] = [];
  let inFlight = 0;
  /** Current owners, by plan id. */
  const held = new Map<string, { owner: string; epoch: number }>();
  /** Deaths of owners, by plan id. */
  const orphaned = new Map<string, { epoch: number; at: number }>();
  const deaths = kills.toSorted((a, b) => a.at - b.at);
  let next = 0;

  function orphanPlansOfDead(until: number): void {
    for (let death = deaths[next]; death !== undefined && death.at <= until; death = deaths[next]) {
      for (const [id, { owner, epoch }] of held) {
        if (pidOf(owner) !== death.pid) continue;
        orphaned.set(id, { epoch, at: death.at });
        inFlight += 1;
      }
      next += 1;
    }
  }

  for (const change of changes) {
    const { collection, id, at, epoch, owner } = change;
    orphanPlansOfDead(at);
    if (collection !== "plans") continue;
    const orphan = orphaned.get(id);
    if (orphan !== undefined && epoch !== undefined && epoch > orphan.epoch) {
      times.push(at - orphan.at);
      orphaned.delete(id);
    }
    if (owner !== undefined && epoch !== undefined) held.set(id, { owner, epoch });
    if (isReleased(change)) {
      held.delete(id);
      orphaned.delete(id);
    }
  }
  return { inFlight, times: times.toSorted((a, b) => a - b) };
}

/** The value below which this share of the sorted values is; null for an empty list. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
