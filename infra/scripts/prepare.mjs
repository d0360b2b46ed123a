// node infra/scripts/prepare.mjs [build] [bundle]
//
// Makes a fresh clone ready: checks Node, installs what the lock file names, and makes what changed of these: `build`
// the packages, `bundle` the programs of `npm start`. Plain JavaScript without dependencies, because it runs before
// anything is installed. A process of its own: reading a lock file takes more memory than `npm start` needs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const [major, minor] = process.versions.node.split(".").map(Number);
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
if (!supported) {
  console.error(`Planwright needs Node 20.19, 22.12 or 24 and later; this is ${process.versions.node}.`);
  process.exit(1);
}

/**
 * Runs a command quietly; a terminal shows the seconds that it has taken. Shows what it printed and ends this process
 * when it fails.
 */
async function run(command, args) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    shell: process.platform === "win32",
  });
  const seconds = showSeconds();
  try {
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    seconds.end();
    if (status === 0) return;
    process.stderr.write(`${stdout}\n${stderr}\n`);
    process.exit(status ?? 1);
  } catch (error) {
    seconds.end();
    console.error(`Could not run ${command}: ${error.message}`);
    process.exit(1);
  }
}

/** Counts the seconds in the last line of a terminal, so that a person sees that something happens, until `end()`. */
function showSeconds() {
  const { stdout } = process;
  if (!stdout.isTTY) return { end: () => undefined };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    stdout.write(`\r  ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }, 1_000);
  return {
    end() {
      clearInterval(timer);
      // Removes the line.
      stdout.write("\r\u001b[K");
    },
  };
}

/**
 * One preparation at a time: `npm start` and `npm run demo` may be typed side by side. A holder that died is
 * replaced.
 */
function holdLock() {
  const file = join(root, ".data", "prepare.pid");
  mkdirSync(dirname(file), { recursive: true });
  for (let isTold = false; ; isTold = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      const release = () => rmSync(file, { force: true });
      process.once("exit", release);
      return () => {
        process.off("exit", release);
        release();
      };
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isRunning(file)) rmSync(file, { force: true });
    else if (!isTold) console.log("Waiting for another preparation of this folder to end ...");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/**
 * Whether the process named in a file runs. A file that is gone or still empty counts as held: the next look
 * decides.
 */
function isRunning(file) {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

/** Whether `npm ci` has put in place what the lock file names; packages of other platforms may be absent. */
function isInstalled() {
  const hidden = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const found = JSON.parse(readFileSync(hidden, "utf8")).packages;
  return Object.entries(wanted).every(([path, { version, integrity, link, optional }]) => {
    if (!path.includes("node_modules/") || link) return true;
    const installed = found[path];
    return installed ? installed.version === version && installed.integrity === integrity : optional === true;
  });
}

const release = holdLock();
if (!isInstalled()) {
  console.log("Installing packages (first time, about a minute) ...");
  await run("npm", ["ci", "--loglevel=error"]);
}
const tasks = process.argv.slice(2);
if (tasks.length > 0) {
  if (!existsSync(join(root, "packages", "cli", "dist", "main.js")))
    console.log("Building (first time, about 15 seconds) ...");
  await run(join(root, "node_modules", ".bin", "turbo"), ["run", ...tasks, "--output-logs=errors-only"]);
}
release();
