import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "./data-folders.ts";
import { ProcessNotReadyError } from "./errors.ts";

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
   * SIGTERM to the process alone, which ends its children when it needs them no longer: an executor lets running
   * calls of its tool servers end. SIGKILL to all of them after `timeoutMs` (default 10,000). Resolves when it has
   * ended; may be called twice.
   */
  stop(timeoutMs?: number): Promise<void>;
}

/** Starts a process. @throws {ProcessNotReadyError} when the command cannot be started at all */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, env, cwd, logFile } = options;
  makeFolder(dirname(logFile));
  const log = openSync(logFile, "a");
  // It may empty the file, and fail: before there is a process that an error would leave running.
  const endBound = boundLog(logFile);
  const logStart = fstatSync(log).size;
  const process_ = spawn(command, args, {
    detached: true, // a separate group: Ctrl-C reaches only this process, which stops the others in order
    stdio: ["ignore", log, log],
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
  });
  closeSync(log);
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
      process_.kill("SIGTERM");
      await exited.finally(() => clearTimeout(force));
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
 * that are written between copy and truncation are lost. Where it cannot be copied, as on a full disk, its lines and
 * the older file are given up: they take the space that the system needs to go on.
 * @returns stops the bounding
 */
export function boundLog(
  file: string,
  { maxBytes = MAX_LOG_BYTES, checkEveryMs = CHECK_EVERY_MS } = {},
): () => void {
  const check = (): void => {
    const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (sizeBytes <= maxBytes) return;
    const older = `${file}.1`;
    try {
      copyFileSync(file, older);
    } catch {
      rmSync(older, { recursive: true, force: true });
    }
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

const TAIL_BYTES = 8_192;
const LINES = 15;
/** MongoDB writes the error that ends it, and then up to thirty lines about its end. */
const ERROR_BYTES = 32_768;
const ERROR_LINES = 3;
const MONGODB_ERROR = /"s":"[EF]"/;

/**
 * The last lines of a file, at most 15 and 8 KiB, and before them the last errors of MongoDB; "" when there is none.
 * @param from - only lines after this byte
 */
export function lastLines(file: string, from = 0): string {
  if (!existsSync(file)) return "";
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    // A smaller file was emptied meanwhile: all of it is newer.
    const length = Math.min(size < from ? size : size - from, ERROR_BYTES);
    const bytes = Buffer.alloc(length);
    readSync(handle, bytes, 0, length, size - length);
    const last = bytes.subarray(-TAIL_BYTES).toString("utf8").trimEnd().split("\n").slice(-LINES);
    const before = bytes.toString("utf8").trimEnd().split("\n").slice(0, -last.length);
    const errors = before.filter((line) => MONGODB_ERROR.test(line)).slice(-ERROR_LINES);
    return [...errors, ...last].join("\n");
  } finally {
    closeSync(handle);
  }
}

/** A process that can be stopped and restarted, also by fault tests. */
export interface ManagedProcess {
  readonly name: string;
  /** Undefined while it does not run, or when the user runs it. */
  pid(): number | undefined;
  /**
   * Sends a signal to it and its children, default SIGKILL, and waits until it has ended. It is not started
   * again until `restart`.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Starts it again as it was, on its old port, and waits until it is ready; stops it first if it still runs.
   */
  restart(): Promise<void>;
  /** Stops it with SIGTERM. It is not started again until `restart`; a second call does nothing. */
  stop(): Promise<void>;
}

/** An unexpected end of a process. */
export interface UnexpectedEnd {
  name: string;
  /**
   * Such as "exited with code 1" or "was ended by SIGKILL"; with `wasReady` false, why it did not become
   * ready.
   */
  how: string;
  /** False when it ended, or its timeout passed, before it was ready: a server that it needs may be down. */
  wasReady: boolean;
  /** Milliseconds until it is started again; undefined when it is not started again. */
  restartsInMs: number | undefined;
}

/** What happens when a process ends unexpectedly. */
export interface Supervision {
  onUnexpectedEnd?: ((end: UnexpectedEnd) => void) | undefined;
  /**
   * Milliseconds to wait before it is started again, such as {@link growingDelayMs}; absent: it is not
   * started again until `restart`.
   * @param attempt - starts in a row, from 1
   */
  restartDelayMs?: ((attempt: number) => number) | undefined;
}

/** Options of starting a process and keeping it running. */
export interface SuperviseOptions extends Supervision {
  name: string;
  spawn: () => Promise<Child>;
  isReady: () => Promise<boolean>;
  /** Longest time until it is ready, in milliseconds; default 60,000. */
  readyTimeoutMs?: number;
  /**
   * Longest time that it may take to stop after {@link ManagedProcess.stop}, in milliseconds; default 10,000.
   */
  stopTimeoutMs?: number;
}

/** After this time of being ready a process has recovered: its next end counts as the first. */
const STABLE_MS = 60_000;

/**
 * Half a second, doubling up to 30 s: a process that cannot start is tried again without limit, at low cost.
 */
export function growingDelayMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(attempt - 1, 10));
}

/**
 * Starts a process and waits until it is ready. With `restartDelayMs` it is kept running: after an unexpected
 * end it is started again, until it is killed or stopped. A first start that fails is an error and is not
 * tried again, because the settings may be wrong. A first start that a signal ended is tried again for
 * `readyTimeoutMs`, and so is each start of a restart.
 * @throws {ProcessNotReadyError} with the last log lines
 */
export async function supervise(options: SuperviseOptions): Promise<ManagedProcess> {
  const supervisor = createSupervisor(options);
  await supervisor.begin(true);
  return supervisor.process;
}

function createSupervisor(options: SuperviseOptions): {
  begin(isFirst: boolean): Promise<void>;
  process: ManagedProcess;
} {
  const { name, readyTimeoutMs = 60_000, stopTimeoutMs = 10_000, onUnexpectedEnd, restartDelayMs } = options;
  let child: Child | undefined;
  /** Raised by each requested start and end: work of an older turn stops. */
  let turn = 0;
  let attempt = 0;
  let spawning: Promise<Child> | undefined;
  /** True when the last start failed because a signal ended the process, so its settings may be right. */
  let isSignalled = false;

  /** One start. Resolves without a process when another turn has begun. */
  async function start(mine: number, timeoutMs = readyTimeoutMs): Promise<void> {
    spawning = options.spawn();
    const started = await spawning;
    if (turn !== mine) return started.kill();
    child = started;
    try {
      await started.ready(options.isReady, timeoutMs);
    } catch (error) {
      isSignalled = started.ended()?.startsWith("was ended by") ?? false;
      await started.kill();
      if (turn === mine) throw error;
      return;
    }
    const readyAt = performance.now();
    void started.exited.then(() => {
      if (turn !== mine) return;
      if (performance.now() - readyAt > STABLE_MS) attempt = 0;
      void startAgain(mine, started.ended() ?? "ended");
    });
  }

  async function startAgain(mine: number, how: string): Promise<void> {
    for (let end = { how, wasReady: true }; turn === mine; ) {
      attempt += 1;
      const restartsInMs = restartDelayMs?.(attempt);
      onUnexpectedEnd?.({ name, ...end, restartsInMs });
      if (restartsInMs === undefined) return;
      await delay(restartsInMs, undefined, { ref: false });
      if (turn !== mine) return;
      try {
        return await start(mine);
      } catch (error) {
        end = { how: error instanceof Error ? error.message : String(error), wasReady: false };
      }
    }
  }

  /** @param isFirst - a process that ends by itself is not started again: its settings may be wrong */
  async function begin(isFirst: boolean): Promise<void> {
    turn += 1;
    const mine = turn;
    const deadlineAt = performance.now() + readyTimeoutMs;
    for (attempt = 0; turn === mine; ) {
      try {
        return await start(mine, deadlineAt - performance.now());
      } catch (error) {
        attempt += 1;
        const restartsInMs = isFirst && !isSignalled ? undefined : restartDelayMs?.(attempt);
        if (restartsInMs === undefined || performance.now() + restartsInMs > deadlineAt) throw error;
        await delay(restartsInMs);
      }
    }
  }

  async function end(how: (running: Child) => Promise<void>): Promise<void> {
    turn += 1;
    // A spawn that failed has rejected its start, and left nothing to end.
    const running = await spawning?.catch(() => undefined);
    if (running) await how(running);
  }

  return {
    begin,
    process: {
      name,
      pid: () => (child?.ended() === undefined ? child?.pid : undefined),
      kill: (signal) => end((running) => running.kill(signal)),
      stop: () => end((running) => running.stop(stopTimeoutMs)),
      async restart() {
        await end((running) => running.stop(stopTimeoutMs));
        await begin(false);
      },
    },
  };
}
