// npm run evals -- [--model openai:<model>] [--domain <name>] [--update] [--json] [--max-seconds 60]: measures the quality of plans, from source.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const main = join(root, "packages", "lab", "src", "evals", "main.ts");
const result = spawnSync(
  process.execPath,
  ["--import", "tsx", "-C", "@planwright/source", main, ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit" },
);
if (result.error) console.error(`Could not run the evals: ${result.error.message}`);
process.exit(result.status ?? 1);
