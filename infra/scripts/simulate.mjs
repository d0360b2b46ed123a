// npm run simulate -- [--seeds 10000 | --seed 1234 | --mutants]: runs the simulation from its source.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const result = spawnSync(
  process.execPath,
  [
    "--import",
    "tsx",
    "-C",
    "@planwright/source",
    join(root, "packages/lab/src/simulation/main.ts"),
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);
process.exit(result.status ?? 1);
