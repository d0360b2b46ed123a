import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, fstatSync, openSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ProcessNotReadyError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { lastLines } from "./log-tail.ts";

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

/** Largest log file, in bytes. A larger one replaces the older file. */
export const MAX_LOG_BYTES = 16_777_216;
const CHECK_EVERY_MS = 5_000;

/**
 * Bounds a log file that a process appends to: the file and the older one beside it (`.1`) hold MAX_LOG_BYTES
 * each, plus the lines of 5 s. The file is copied and truncated, because the process holds it open; lines
 * that are written between copy and truncation are lost.
 * @returns stops the bounding
 */
export function boundLog(
  file: string,
  { maxBytes = MAX_LOG_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
): () => void {
  const check = (): void => {
    const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (sizeBytes <= maxBytes) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  };
  check();
  const timer = setInterval(check, checkEveryMs).unref();
  return () => clearInterval(timer);
}

/**
 * Reads "+pid" and "-pid" lines. When the parent ends for any reason, the kernel closes the pipe. Then the
 * script stops every listed group: with SIGTERM, and after 3 s with SIGKILL. Groups, so that children of
 * children end too.
 */
const SCRIPT = `
pids=""
while read -r line; do
  pid="\${line#?}"
  case "$line" in
    +*) pids="$pids $pid" ;;
    -*) kept=""; for p in $pids; do [ "$p" = "$pid" ] || kept="$kept $p"; done; pids="$kept" ;;
  esac
done
for p in $pids; do kill -TERM "-$p" 2>/dev/null; done
i=0
while [ "$i" -lt 30 ]; do
  left=""
  for p in $pids; do kill -0 "-$p" 2>/dev/null && left="$left $p"; done
  [ -z "$left" ] && exit 0
  sleep 0.1
  i=$((i + 1))
done
for p in $left; do kill -KILL "-$p" 2>/dev/null; done
`;

/** Ends child process groups after this process has ended, also by SIGKILL or a crash. */
interface Watchdog {
  /** Guards the process group that this process leads. */
  add(pid: number): void;
  /** Removes a group that has ended, before its number is used again. */
  remove(pid: number): void;
}

let current: Watchdog | undefined;

/** The watchdog of this process, started at first use: one `sh` that sleeps on a pipe. */
function watchdog(): Watchdog {
  current ??= startWatchdog();
  return current;
}

function startWatchdog(): Watchdog {
  // Detached: a Ctrl-C in the terminal must reach only the parent, neither the watchdog nor the processes
  // that it guards.
  const child = spawn("sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const { stdin } = child;
  letParentEnd(child, stdin);
  // A watchdog that was killed cannot guard; the next child gets a new one.
  child.once("exit", () => {
    current = undefined;
  });
  child.once("error", () => {
    current = undefined;
  });
  stdin.on("error", () => {
    current = undefined;
  });
  return {
    add: (pid) => void stdin.write(`+${pid}\n`),
    remove: (pid) => void stdin.write(`-${pid}\n`),
  };
}

/** Neither the process nor its pipe keeps this process's event loop alive. */
function letParentEnd(child: ChildProcess, stdin: Writable): void {
  child.unref();
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
}
