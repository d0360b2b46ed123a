// npm run bench -- <name> [options]: runs one benchmark from its source.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const BENCHMARKS = {
  plan: "packages/lab/src/bench/plan/plan.ts",
  execute: "packages/lab/src/bench/execute/execute.ts",
  learning: "packages/lab/src/bench/execute/learning.ts",
  outputs: "packages/lab/src/bench/execute/outputs.ts",
  api: "packages/lab/src/bench/api/api.ts",
  model: "packages/lab/src/bench/model/model.ts",
  system: "packages/lab/src/bench/system/system.ts",
};
/** They start services from their build, as in production. */
const RUN_THE_BUILD = ["api", "system"];
const [name, ...options] = process.argv.slice(2);
const file = BENCHMARKS[name];
if (!file) {
  console.error(`Which benchmark? npm run bench -- ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(1);
}
/** Runs a command and ends this process when it fails. */
function run(command, args, stdio) {
  const result = spawnSync(command, args, { cwd: root, stdio });
  if (result.error) console.error(`Could not run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

// Standard output is for the figures alone.
if (RUN_THE_BUILD.includes(name))
  run(
    join(root, "node_modules", ".bin", "turbo"),
    ["run", "build", "--output-logs=errors-only"],
    ["ignore", 2, 2],
  );
run(
  process.execPath,
  ["--expose-gc", "--import", "tsx", "-C", "@planwright/source", join(root, file), ...options],
  "inherit",
);
