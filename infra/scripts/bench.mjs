// npm run bench -- <name> [options]: runs one benchmark.
import { build, runSource, runTool } from "./run-source.mjs";

const BENCHMARKS = {
  plan: "plan/plan.ts",
  execute: "execute/execute.ts",
  learning: "execute/learning.ts",
  outputs: "execute/outputs.ts",
  api: "api/api.ts",
  model: "model/model.ts",
  system: "system/system.ts",
};
/** It needs the browser and the system of the console's tests. */
const CONSOLE = ["run", "--config", "services/console/test/on-demand.vitest.config.ts", "timings"];
/** They start services from their build, as in production. */
const RUN_THE_BUILD = ["api", "system"];
const [name, ...options] = process.argv.slice(2);
const file = BENCHMARKS[name];
if (!file && name !== "console") {
  console.error(`Which benchmark? npm run bench -- ${[...Object.keys(BENCHMARKS), "console"].join(" | ")}`);
  process.exit(1);
}
if (!file || RUN_THE_BUILD.includes(name)) build();
if (file) runSource(`bench/${file}`, options, ["--expose-gc"]);
else runTool("vitest", [...CONSOLE, ...options]);
