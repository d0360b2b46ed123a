/** Runs commands as a new user does: in a shell, in the folder of the checkout. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The environment without settings of Planwright. */
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

/** An empty folder, which is removed at the end of the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-first-hour-"));
  // The servers in the folder end shortly after the process that started them was killed, and write until
  // then. `rmSync` of Node 20 does not wait between its tries.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return path;
}

/** A running command. */
export interface Running {
  child: ChildProcessByStdio<null, Readable, null>;
  /** Everything that it has printed so far. */
  output(): string;
  /** Resolves when it has printed this; rejects when it ends earlier. */
  printed(what: string): Promise<void>;
  ended: Promise<number | null>;
}

/** Runs a command as a shell does, in the folder of the checkout. */
export function run(command: string, args: readonly string[], settings: NodeJS.ProcessEnv): Running {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // a separate process group, as for each command of a terminal
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
      const check = () => shown.includes(what) && resolve();
      check();
      child.stdout.on("data", check);
      void ended.then((code) =>
        reject(new TypeError(`Ended with ${code} before it printed ${what}:\n${shown}`)),
      );
    });
  return { child, ended, output: () => shown, printed };
}

/** The same for npm. */
export const npm = (args: readonly string[], settings: NodeJS.ProcessEnv) => run("npm", args, settings);
