// npm run chaos -- [--plans 200] [--faults 30] [--seed 7] [--json]: builds what changed, and runs the system under faults.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Runs a command and ends this process when it fails. Standard output is for the result alone. */
function run(command, args, stdout) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["inherit", stdout, "inherit"] });
  if (result.error) console.error(`Could not run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

// Services run from their build, as they do in production; one that is current is a matter of a moment.
run(join(root, "node_modules", ".bin", "turbo"), ["run", "build", "--output-logs=errors-only"], 2);
const main = join(root, "packages", "lab", "src", "chaos", "main.ts");
run(
  process.execPath,
  ["--import", "tsx", "-C", "@planwright/source", main, ...process.argv.slice(2)],
  "inherit",
);
