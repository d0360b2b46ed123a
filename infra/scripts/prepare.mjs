// Makes a fresh clone runnable: checks Node, installs what the lock file names, builds what changed.
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const [major, minor] = process.versions.node.split(".").map(Number);
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
if (!supported) {
  console.error(`Planwright needs Node 20.19, 22.12 or 24 and later; this is ${process.versions.node}.`);
  process.exit(1);
}

/** Runs a command with its output shown; ends this process when it fails. */
function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    shell: process.platform === "win32",
  });
  if (result.error) {
    console.error(`Could not run ${command}: ${result.error.message}`);
    process.exit(1);
  }
  if (result.status !== 0) process.exit(result.status ?? 1);
}

const lockHash = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
const stamp = join(root, "node_modules", ".cache", "planwright-lock-hash");
const installed = existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash;
if (!installed) {
  console.log("Installing packages (first run only) ...");
  run("npm", ["ci", "--loglevel=error"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lockHash);
}
run("npx", ["--no-install", "turbo", "run", "build", "--output-logs=errors-only", "--log-order=grouped"]);
