// npm run bench -- <name> [options]: runs one benchmark.
import { build, runSource, runTool } from "./run-source.mjs";

const [name, ...options] = process.argv.slice(2);

/** Runs a benchmark of packages/lab. */
function fromSource(file) {
  runSource(`bench/${file}`, options, ["--expose-gc"]);
}

/** The same for a benchmark that starts services from their build, as in production. */
function onTheBuild(file) {
  build();
  fromSource(file);
}

/** Needs the browser and the system of the console's tests. */
function ofTheConsole() {
  build();
  const config = "services/console/test/on-demand.vitest.config.ts";
  runTool("vitest", ["run", "--config", config, "timings", ...options]);
}

const BENCHMARKS = {
  plan: () => fromSource("plan/plan.ts"),
  execute: () => fromSource("execute/execute.ts"),
  learning: () => fromSource("execute/learning.ts"),
  fairness: () => fromSource("fairness/fairness.ts"),
  "claim-order": () => fromSource("fairness/claim-order.ts"),
  outputs: () => fromSource("execute/outputs.ts"),
  controls: () => fromSource("execute/controls.ts"),
  weight: () => onTheBuild("execute/weight.ts"),
  api: () => onTheBuild("api/api.ts"),
  model: () => fromSource("model/model.ts"),
  system: () => onTheBuild("system/system.ts"),
  console: ofTheConsole,
};
const run = BENCHMARKS[name];
if (!run) {
  console.error(`Which benchmark? npm run bench -- ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(1);
}
run();
