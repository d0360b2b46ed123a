// npm run bench -- <name> [--node 24] [options]: runs one benchmark, on this Node or on another version.
import { build, nodeOf, runSource, runTool } from "./run-source.mjs";

const [name, ...options] = process.argv.slice(2);
const nodeAt = options.indexOf("--node");
const [, major] = nodeAt < 0 ? [] : options.splice(nodeAt, 2);

/** Runs a benchmark of packages/lab. */
function fromSource(file) {
  runSource(`bench/${file}`, options, ["--expose-gc"], major === undefined ? undefined : nodeOf(major));
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
  plan: () => fromSource("plan.ts"),
  execute: () => fromSource("execute.ts"),
  learning: () => fromSource("learning.ts"),
  fairness: () => fromSource("fairness.ts"),
  "claim-order": () => fromSource("claim-order.ts"),
  outputs: () => fromSource("outputs.ts"),
  controls: () => fromSource("controls.ts"),
  storage: () => fromSource("storage.ts"),
  weight: () => onTheBuild("weight.ts"),
  api: () => onTheBuild("api.ts"),
  model: () => fromSource("model.ts"),
  system: () => onTheBuild("system.ts"),
  kills: () => onTheBuild("kills.ts"),
  console: ofTheConsole,
  "first-result": () => fromSource("first-result.ts"),
};
const run = BENCHMARKS[name];
if (!run) {
  console.error(`Which benchmark? npm run bench -- ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(1);
}
run();
