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

/** Options of {@link runChaos}. */
export interface ChaosOptions {
  settings: Settings;
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
    for (const line of endsToNote(observed.evidence)) say(line);
    return { report: createReport({ ...observed, settings, crashes, verdict }), verdict };
  } finally {
    await mongo.close();
    await system.stop();
    await model.close();
  }
}

/** Lines about plans and requests that ended in an allowed way that needs attention. Pure. */
export function endsToNote({ plans, requests }: Pick<Evidence, "plans" | "requests">): string[] {
  return [
    ...requests.flatMap(({ _id, status, error }) =>
      status === "FAILED" && error !== null ? [`${_id} was not planned: ${error.code}`] : [],
    ),
    ...plans.flatMap(({ _id, error }) => (error?.code === "POISONED" ? [`${_id} ended as POISONED`] : [])),
  ];
}
