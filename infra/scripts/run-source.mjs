// Runs programs of packages/lab from their source, as `npm run bench`, `chaos`, `evals` and `simulate` do.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Runs a command and ends this process when it fails. */
function run(command, args, stdio) {
  const result = spawnSync(command, args, { cwd: root, stdio });
  if (result.error) console.error(`Could not run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/**
 * Builds what changed: some programs start services from their build, as in production. Standard output is
 * for results alone.
 */
export function build() {
  const turbo = join(root, "node_modules", ".bin", "turbo");
  run(turbo, ["run", "build", "--output-logs=errors-only"], ["ignore", 2, 2]);
}

/** Runs a program that a package of ours brings. */
export function runTool(name, args) {
  run(join(root, "node_modules", ".bin", name), args, "inherit");
}

/** Runs a file below packages/lab/src with these arguments. */
export function runSource(file, args, nodeOptions = []) {
  const main = join(root, "packages", "lab", "src", file);
  run(
    process.execPath,
    [...nodeOptions, "--import", "tsx", "-C", "@planwright/source", main, ...args],
    "inherit",
  );
}
