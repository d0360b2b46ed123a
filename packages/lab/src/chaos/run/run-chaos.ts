import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { UnexpectedEnd } from "@planwright/local";
import { startModelServer } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { waitForTools } from "../../client/wait-for-tools.ts";
import type { Random } from "../../random/random.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { checkRun, type Verdict } from "../oracle/check-run.ts";
import { CHAOS_TOOLS, type ChaosPlan } from "../plans/chaos-plan.ts";
import { scriptedModel } from "../plans/scripted-model.ts";
import { makeToolScript } from "../plans/tool-script.ts";
import { startSystem } from "../system/system.ts";
import { playOut } from "./play-out.ts";
import { createReport, type Report } from "./report.ts";
import type { Settings } from "./settings.ts";

/** What a run needs. */
export interface ChaosOptions {
  settings: Settings;
  plans: readonly ChaosPlan[];
  random: Random;
  /** For data, logs and the ledger. */
  folder: string;
  /** Receives lines for people. */
  say: (line: string) => void;
}

/** Runs plans under faults and judges the evidence; all processes have ended then. */
export async function runChaos(options: ChaosOptions): Promise<{ report: Report; verdict: Verdict }> {
  const { settings, plans, random, folder, say } = options;
  const crashes: UnexpectedEnd[] = [];
  const model = await startModelServer({ script: scriptedModel(random.stream("model"), plans) });
  let toolStarts = 0;
  const system = await startSystem({
    folder,
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
    await waitForTools(system.apiUrl, Object.keys(CHAOS_TOOLS));
    say("everything is running");
    const observed = await playOut({ settings, plans, random, system, mongo, say });
    const verdict = checkRun(observed.evidence);
    if (!verdict.passed || settings.keep)
      await writeFile(join(folder, "evidence.json"), JSON.stringify(observed.evidence));
    for (const line of remarkableEnds(observed.evidence)) say(line);
    return { report: createReport({ ...observed, settings, crashes, verdict }), verdict };
  } finally {
    await mongo.close();
    await system.stop();
    await model.close();
  }
}

/** Ends that are allowed but need attention. Pure. */
export function remarkableEnds({ plans, requests }: Pick<Evidence, "plans" | "requests">): string[] {
  return [
    ...requests.flatMap(({ _id, status, error }) =>
      status === "FAILED" && error !== null ? [`${_id} was not planned: ${error.code}`] : [],
    ),
    ...plans.flatMap(({ _id, error }) => (error?.code === "POISONED" ? [`${_id} ended as POISONED`] : [])),
  ];
}
