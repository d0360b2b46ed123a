import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ProcessNotReadyError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { boundLog } from "./bounded-log.ts";
import { lastLines } from "./log-tail.ts";
import { watchdog } from "./watchdog.ts";

/** The process to start. Its output is appended to `logFile`; see boundLog for the size. */
export interface ChildOptions {
  /** For messages, such as "MongoDB". */
  name: string;
  command: string;
  args: readonly string[];
  /** The complete environment of the process; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  logFile: string;
}

/** A process that ends, with all its children, no later than this process. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Undefined while it runs; afterwards how it ended, such as "exited with code 1". */
  ended(): string | undefined;
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<void>;
  /**
   * Waits until `isReady` resolves to true. It is called every 50 ms; a rejection counts as "not yet".
   * @throws {ProcessNotReadyError} when the process ends first or `timeoutMs` (default 30,000) has passed
   */
  ready(isReady: () => Promise<boolean>, timeoutMs?: number): Promise<void>;
  /** Sends a signal to the process and its children; default SIGKILL. Resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /**
   * SIGTERM, and SIGKILL after `timeoutMs` (default 10,000). Resolves when it has ended; may be called twice.
   */
  stop(timeoutMs?: number): Promise<void>;
}

/** Starts a process. @throws {ProcessNotReadyError} when the command cannot be started at all */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, env, cwd, logFile } = options;
  makeFolder(dirname(logFile));
  const log = openSync(logFile, "a");
  const logStart = fstatSync(log).size;
  const process_ = spawn(command, args, {
    detached: true, // a separate group: Ctrl-C reaches only this process, which stops the others in order
    stdio: ["ignore", log, log],
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
  });
  closeSync(log);
  const endBound = boundLog(logFile);
  process_.once("exit", endBound).once("error", endBound);
  const pid = process_.pid;
  if (pid === undefined) {
    const [error] = await once(process_, "error");
    throw new ProcessNotReadyError({ name, reason: `could not be started (${command})`, logFile }, "", error);
  }
  watchdog().add(pid);
  return guard({ name, pid, logFile, logStart }, process_);
}

function guard(
  facts: { name: string; pid: number; logFile: string; logStart: number },
  process_: ChildProcess,
): Child {
  const { name, pid, logFile, logStart } = facts;
  let how: string | undefined;
  const exited = new Promise<void>((resolve) => {
    process_.once("exit", (code, signal) => {
      how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
      signalGroup(pid, "SIGKILL"); // children that it left running
      watchdog().remove(pid);
      resolve();
    });
  });
  const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
    if (how === undefined) signalGroup(pid, signal);
    await exited;
  };
  return {
    name,
    pid,
    logFile,
    exited,
    ended: () => how,
    kill,
    async ready(isReady, timeoutMs = 30_000) {
      const deadline = performance.now() + timeoutMs;
      let cause: unknown;
      const notReady = (reason: string) =>
        new ProcessNotReadyError({ name, reason, logFile }, lastLines(logFile, logStart), cause);
      for (;;) {
        if (how !== undefined) throw notReady(how);
        const answer = await isReady().catch((error: unknown) => {
          cause = error;
          return false;
        });
        if (answer) return;
        if (performance.now() > deadline) throw notReady(`was not ready after ${timeoutMs} ms`);
        await delay(50);
      }
    },
    async stop(timeoutMs = 10_000) {
      if (how !== undefined) return;
      const force = setTimeout(() => signalGroup(pid, "SIGKILL"), timeoutMs);
      await kill("SIGTERM").finally(() => clearTimeout(force));
    },
  };
}

/** Signals a process group. It is not an error when the group has ended. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
