/** What a newcomer does: types commands into a shell, in the folder of the checkout. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Folder of the repository. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The environment without settings of ours. */
export const env = withoutSettings(process.env);

function withoutSettings({
  MONGODB_URL: _mongodb,
  REDIS_URL: _redis,
  MODEL: _model,
  MCP_SERVERS_FILE: _file,
  ...others
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return others;
}

/** An empty folder until the test has ended. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-first-hour-"));
  // The servers in it end a moment after what started them was killed, and write until then.
  // `rmSync` of Node 20 does not wait between its tries.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return path;
}

/** A command that was typed. */
export interface Running {
  child: ChildProcessByStdio<null, Readable, null>;
  /** What it has printed so far. */
  output(): string;
  /** Resolves when it has printed this; rejects when it ends before. */
  printed(what: string): Promise<void>;
  ended: Promise<number | null>;
}

/** Runs a command of a newcomer, as a shell would, in the folder of the checkout. */
export function run(command: string, args: readonly string[], settings: NodeJS.ProcessEnv): Running {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // a group of its own, as a terminal gives one to each command
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  });
  let shown = "";
  const ended = once(child, "exit").then(([code]) => (typeof code === "number" ? code : null));
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    shown += chunk;
  });
  const printed = (what: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => shown.includes(what) && resolve();
      look();
      child.stdout.on("data", look);
      void ended.then((code) =>
        reject(new TypeError(`Ended with ${code} before it printed ${what}:\n${shown}`)),
      );
    });
  return { child, ended, output: () => shown, printed };
}

/** The same for npm. */
export const npm = (args: readonly string[], settings: NodeJS.ProcessEnv) => run("npm", args, settings);
