// Makes a fresh clone runnable: checks Node, installs what the lock file names, builds what changed.
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const [major, minor] = process.versions.node.split(".").map(Number);
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
if (!supported) {
  console.error(`Planwright needs Node 20.19, 22.12 or 24 and later; this is ${process.versions.node}.`);
  process.exit(1);
}

/** Runs a command, quietly if it may be quiet; shows what it printed and ends this process when it fails. */
function run(command, args, { isQuiet = false } = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: isQuiet ? ["ignore", "pipe", "pipe"] : "inherit",
    encoding: "utf8",
    maxBuffer: 64 * 1_048_576,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    shell: process.platform === "win32",
  });
  if (result.error) {
    console.error(`Could not run ${command}: ${result.error.message}`);
    process.exit(1);
  }
  if (result.status === 0) return;
  if (isQuiet) process.stderr.write(`${result.stdout}\n${result.stderr}\n`);
  process.exit(result.status ?? 1);
}

/** One preparation at a time: `npm start` and `npm run demo` may be typed side by side. A holder that died is replaced. */
function holdLock() {
  const file = join(root, ".data", "prepare.pid");
  mkdirSync(dirname(file), { recursive: true });
  for (let isTold = false; ; isTold = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      process.on("exit", () => rmSync(file, { force: true }));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isRunning(file)) rmSync(file, { force: true });
    else if (!isTold) console.log("Waiting for another preparation of this folder to end ...");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/** Whether the process named in a file runs. A file that is gone or still empty counts as held: the next look decides. */
function isRunning(file) {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

holdLock();
const lockHash = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
const stamp = join(root, "node_modules", ".cache", "planwright-lock-hash");
const isInstalled = existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash;
if (!isInstalled) {
  console.log("Installing packages (first time, about a minute) ...");
  run("npm", ["ci", "--loglevel=error"], { isQuiet: true });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lockHash);
}
if (!existsSync(join(root, "packages", "local", "dist")))
  console.log("Building (first time, about 15 seconds) ...");
run(join(root, "node_modules", ".bin", "turbo"), ["run", "build", "--output-logs=errors-only"], {
  isQuiet: true,
});
