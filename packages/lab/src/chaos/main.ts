/**
 * The whole system as real processes under faults, and a checker that reads what is left of it.
 *
 * npm run chaos -- [--plans 200] [--faults 30] [--seed 7] [--json] [--keep]
 *
 * Data and logs are kept when something is wrong, and with `--keep`.
 * The seed fixes plans, faults and their times, not how processes are scheduled: a run repeats what was asked, not what happened.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../random/random.ts";
import { print, printJson, say } from "../report/output.ts";
import { makePlan } from "./plans/make-plan.ts";
import { runChaos } from "./run/run-chaos.ts";
import { readSettings } from "./run/settings.ts";

const settings = readSettings(process.argv.slice(2));
const startedAt = performance.now();
const sayWhen = (line: string): void => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  say(`${seconds.padStart(6)} s  ${line}`);
};

/** Longest that a run may take, in milliseconds; the largest ones asked for take half of it. */
const LIMIT_MS = 20 * 60_000;
setTimeout(() => {
  sayWhen("The run does not come to an end; it is given up");
  process.exit(1);
}, LIMIT_MS).unref();

const random = createRandom(settings.seed);
const plans = Array.from({ length: settings.plans }, (_, index) =>
  makePlan(random.stream(`plan ${index}`), index),
);
const folder = await mkdtemp(join(tmpdir(), "planwright-chaos-"));
let hasPassed = false;
try {
  const { report, verdict } = await runChaos({ settings, plans, random, folder, say: sayWhen });
  for (const { kind, id, expected, found } of verdict.violations) {
    sayWhen(`${kind}: ${id}: expected ${expected}; found ${found}`);
  }
  hasPassed = verdict.passed;
  const result = { ...report, durationMs: Math.round(performance.now() - startedAt) };
  if (settings.json) printJson(result);
  else for (const [name, value] of Object.entries(result)) print(`${name}: ${JSON.stringify(value)}`);
} finally {
  if (hasPassed && !settings.keep) await rm(folder, { recursive: true, force: true });
  else sayWhen(`Data and logs are kept in ${folder}`);
}
process.exit(hasPassed ? 0 : 1);
