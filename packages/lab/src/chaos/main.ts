/**
 * Runs the whole system as real processes under faults, and checks the evidence.
 *
 * npm run chaos -- [--plans 200] [--faults 30] [--seed 7] [--json] [--keep]
 *
 * Data and logs are kept when a violation is found, and with `--keep`. The seed fixes plans, faults and their
 * times, but not how the machine schedules processes: a run repeats the inputs, not the events.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print, printJson, say } from "../command/developer-command.ts";
import { createRandom } from "../random/random.ts";
import { makePlan } from "./make-plan.ts";
import { runChaos } from "./run-chaos.ts";
import { readSettings } from "./settings.ts";

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
  const { report, verdict } = await runChaos({ settings, plans, random, folder, say: sayWithTime });
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
