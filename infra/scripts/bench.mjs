// npm run bench -- <name> [options]: runs one benchmark from its source.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const BENCHMARKS = {
  plan: "packages/engine/bench/plan.ts",
  execute: "services/executor/bench/execute.ts",
  learning: "services/executor/bench/learning.ts",
  api: "services/api/bench/api.ts",
  model: "services/planner/bench/model.ts",
};
const [name, ...options] = process.argv.slice(2);
const file = BENCHMARKS[name];
if (!file) {
  console.error(`Which benchmark? npm run bench -- ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(1);
}
const result = spawnSync(
  process.execPath,
  ["--expose-gc", "--import", "tsx", "-C", "@planwright/source", join(root, file), ...options],
  { cwd: root, stdio: "inherit" },
);
process.exit(result.status ?? 1);
