/**
 * Plan quality: compares the plans that the planner makes of requests with the wanted plans.
 *
 * npm run evals -- [--model openai:<model>] [--domain shop] [--update] [--json] [--max-seconds 60]
 *
 * Without `--model` no key is needed: a scripted server plays recorded answers of models. The exit code is 1
 * when figures are lost since baseline.json, which `--update` rewrites, and when the run takes longer than
 * `--max-seconds`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createDrafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { CodedError } from "@planwright/plan";
import { developerCommand, numberOption, print, printJson, say } from "../command/developer-command.ts";
import { languageCases } from "./cases/language-cases.ts";
import { modelCases, readingCases } from "./cases/model-cases.ts";
import { offlineCases } from "./cases/offline-cases.ts";
import { BaselineSchema, lossesSince, reportTable, summariseAll, toBaseline } from "./figures.ts";
import { isUnanswered, playLive, playRecorded } from "./play-cases.ts";
import {
  playUndeclared,
  summariseUndeclared,
  undeclaredBaseline,
  undeclaredTable,
} from "./play-undeclared.ts";
import { undeclaredCases } from "./undeclared-cases.ts";

/** An option names something that does not exist. */
class SettingsInvalidError extends CodedError<{ reason: string }> {
  readonly code = "SETTINGS_INVALID";
  readonly retryable = false;
  constructor(facts: { reason: string }) {
    super(facts.reason, facts);
  }
}

/** Options of the command line. */
interface Settings {
  /**
   * A model to ask instead of playing recorded answers, such as "openai:gpt-4.1-mini"; null: recorded
   * answers.
   */
  model: string | null;
  /** The only catalogue to play, without comparison with the baseline; null: all. */
  domain: string | null;
  /** Writes the figures as the new baseline. */
  update: boolean;
  /** Prints the report as JSON in the last line. */
  json: boolean;
  /** A longer run exits with 1; null: no limit. */
  maxSeconds: number | null;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
function readSettings(args: readonly string[]): Settings {
  const options = developerCommand(
    "evals",
    "Plays recorded answers of models, and compares the plans with the wanted ones.",
  )
    .option("--model <provider:model>", "ask this model instead, such as openai:gpt-4.1-mini")
    .option("--domain <name>", "only this catalogue, without comparison with the baseline")
    .option("--update", "write the figures as the new baseline", false)
    .option("--json", "print the report as JSON, last", false)
    .option("--max-seconds <number>", "exit with 1 when it takes longer", numberOption(86_400))
    .parse(args, { from: "user" })
    .opts<Pick<Settings, "update" | "json"> & Partial<Settings>>();
  return { model: null, domain: null, maxSeconds: null, ...options };
}

const BASELINE = fileURLToPath(new URL("baseline.json", import.meta.url));

try {
  process.exitCode = await run(readSettings(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  say(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}

async function run({ model, domain, update, json, maxSeconds }: Settings): Promise<number> {
  const all = [...offlineCases(), ...readingCases(), ...modelCases(), ...languageCases()];
  const cases = all.filter((each) => domain === null || each.domain === domain);
  if (cases.length === 0) throw new SettingsInvalidError({ reason: `There are no cases of ${domain}` });
  const graded =
    model === null
      ? await playRecorded(cases)
      : await playLive(
          cases,
          createDrafter({ ...process.env, MODEL: model }, createOfflineDrafter),
          (done, of) => {
            if (done % 20 === 0 || done === of) say(`${done} of ${of}`);
          },
        );

  for (const { id, grade, played } of graded.filter((each) => !each.grade.isRight)) {
    const { ending, repairs } = played;
    const how = ending.type === "refusal" ? ending.code : ending.type;
    say(`not as wanted: ${id} (${how}${grade.comparison ? ", plans differ" : ""}, ${repairs} repairs)`);
  }
  const summaries = summariseAll(graded);
  for (const line of reportTable(summaries)) print(line);
  const isComplete = model === null && domain === null;
  const undeclared = isComplete ? summariseUndeclared(await playUndeclared(undeclaredCases())) : [];
  if (isComplete) for (const line of ["", ...undeclaredTable(undeclared)]) print(line);
  const now = { ...toBaseline(summaries), ...undeclaredBaseline(undeclared) };
  if (isComplete && update) await writeFile(BASELINE, `${JSON.stringify(now, null, 2)}\n`);
  const losses = isComplete ? lossesSince(await readBaseline(), now) : [];
  const unanswered = model === null ? [] : graded.filter(isUnanswered);
  if (unanswered.length > 0) {
    say(`${unanswered.length} of ${graded.length} requests got no answer and do not measure the model`);
  }
  for (const loss of losses) say(`lost: ${loss}`);
  // Measured from the start of the process, so that loading the planner counts.
  const durationMs = Math.round(performance.now());
  const isLate = maxSeconds !== null && durationMs > maxSeconds * 1_000;
  say(`${graded.length} cases in ${(durationMs / 1_000).toFixed(1)} s`);
  if (isLate) say(`too slow: more than the ${maxSeconds} s of --max-seconds`);
  const groups = Object.fromEntries(summaries);
  if (json) printJson({ durationMs, model, losses, groups, undeclared });
  return losses.length > 0 || unanswered.length > 0 || isLate ? 1 : 0;
}

async function readBaseline() {
  return BaselineSchema.parse(JSON.parse(await readFile(BASELINE, "utf8")));
}
