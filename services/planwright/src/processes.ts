/**
 * Several processes with the same roles behind one port of the API. The first process runs no role: it hands
 * connections to the others in turns (`node:cluster`), and keeps them running.
 */
import cluster, { type Worker } from "node:cluster";
import type { Logger, Shutdown } from "@planwright/runtime";

/** Options of {@link runProcesses}. */
interface ProcessesOptions {
  /** At least 2. */
  count: number;
  /** Health port of the first; the others have those behind it. 0: any. */
  healthPort: number;
  logger: Pick<Logger, "info" | "warn">;
}

/** Signals that end processes in order. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/** First and longest wait before a process is started again, in milliseconds; it doubles. */
const RESTART_MS = { first: 500, longest: 30_000 };
/** A process that was ready for this time has recovered: its next end counts as the first. */
const STABLE_MS = 60_000;

/**
 * Starts the processes, and starts each again that ends unexpectedly, at its health port. A signal ends all of them in
 * order, and then this process. A process that ends before it was ever ready ends all: its settings or its port
 * cannot work, and it has said so.
 */
export function runProcesses({ count, healthPort, logger }: ProcessesOptions): void {
  /** When each was ready; null before. */
  const running = new Map<Worker, number | null>();
  let exitCode = 0;
  let isStopping = false;

  function stop(reason: string, code = 0): void {
    exitCode = Math.max(exitCode, code);
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, "stopping");
    // Not a signal: a terminal signals all processes of the group, and a second signal would end them at once.
    for (const worker of running.keys()) worker.send({ stop: reason }, ignoreGone);
    if (running.size === 0) process.exit(exitCode);
  }

  function begin(index: number, failures = 0): void {
    if (isStopping) return;
    const worker = cluster.fork(healthPort === 0 ? {} : { HEALTH_PORT: String(healthPort + index) });
    running.set(worker, null);
    worker.once("message", () => void running.set(worker, performance.now()));
    worker.once("exit", (code, signal) => {
      const readyAt = running.get(worker) ?? null;
      running.delete(worker);
      if (isStopping) {
        // A signal that came before the process listened to signals has ended it too.
        exitCode = Math.max(exitCode, code ?? (SIGNALS.some((one) => one === signal) ? 0 : 1));
        if (running.size === 0) process.exit(exitCode);
        return;
      }
      const how = signal ? `was ended by ${signal}` : `exited with code ${code}`;
      if (readyAt === null && failures === 0)
        return stop(`process ${index + 1} ${how} before it was ready`, 1);
      const isStable = readyAt !== null && performance.now() - readyAt > STABLE_MS;
      const before = isStable ? 0 : failures;
      const restartsInMs = Math.min(RESTART_MS.longest, RESTART_MS.first * 2 ** before);
      logger.warn({ process: index + 1, how, restartsInMs }, "a process ended and is started again");
      setTimeout(() => begin(index, before + 1), restartsInMs);
    });
  }

  for (const signal of SIGNALS) process.on(signal, () => stop(signal));
  for (let index = 0; index < count; index += 1) begin(index);
}

/** One of the processes: ends when the first one says so, also while it starts. */
export function endWithFirst(shutdown: Pick<Shutdown, "run">): void {
  process.on("message", ({ stop }: { stop: string }) => void shutdown.run(stop));
}

/** Tells the first process that this one takes work. */
export function sayReady(): void {
  process.send?.({ ready: true });
}

/** A process that has just ended gets no message, and its end is noticed. */
const ignoreGone = (): void => undefined;
