// npm run bench -- <name> [options]: runs one benchmark.
import { build, runSource } from "./run-source.mjs";

const BENCHMARKS = {
  plan: "plan/plan.ts",
  execute: "execute/execute.ts",
  learning: "execute/learning.ts",
  outputs: "execute/outputs.ts",
  api: "api/api.ts",
  model: "model/model.ts",
  system: "system/system.ts",
};
/** They start services from their build, as in production. */
const RUN_THE_BUILD = ["api", "system"];
const [name, ...options] = process.argv.slice(2);
const file = BENCHMARKS[name];
if (!file) {
  console.error(`Which benchmark? npm run bench -- ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(1);
}
if (RUN_THE_BUILD.includes(name)) build();
runSource(`bench/${file}`, options, ["--expose-gc"]);
