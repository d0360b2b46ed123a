/**
 * Threads for jobs that would block the event loop, such as reading large JSON: heartbeats and small requests are
 * not late because of them. Jobs and their results are plain data.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CodedError } from "@planwright/plan";
import type { Logger } from "./create-logger.ts";

/** A thread ended during a job, most often because the job needs more memory than a thread may have. */
export class ThreadEndedError extends CodedError<{ reason: string }> {
  readonly code = "THREAD_ENDED";
  readonly retryable = false;
}

/** Options of {@link createJobThreads}. */
export interface JobThreadsOptions<Job, Result> {
  /**
   * The file of a thread, which answers each job with a {@link JobAnswer}. If it does not exist, as in tests of the
   * sources, jobs are done on the event loop.
   */
  file: URL;
  /** Does a job. */
  perform: (job: Job) => Result;
  logger?: Pick<Logger, "warn"> | undefined;
}

/** Threads that do jobs. */
export interface JobThreads<Job, Result> {
  /** Does a job. Rejects with {@link ThreadEndedError} when it throws in a thread, or its thread ends. */
  perform: (job: Job) => Promise<Result>;
  /** Ends the threads; jobs that are not done fail. */
  stop: () => Promise<void>;
}

/** What a thread answers. */
export type JobAnswer<Result> = { result: Result } | { failure: string };

interface Waiting<Job, Result> {
  job: Job;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

interface Thread<Job, Result> {
  worker: Worker;
  current: Waiting<Job, Result> | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** A thread without jobs ends after this time, in milliseconds, and its memory is free again. */
const IDLE_MS = 30_000;

/** Starts no thread before the first job. Threads without a job do not keep the process alive. */
export function createJobThreads<Job, Result>({
  file,
  perform,
  logger,
}: JobThreadsOptions<Job, Result>): JobThreads<Job, Result> {
  const hasThreads = existsSync(fileURLToPath(file));
  // Each job takes all of one core, which the event loop needs too.
  const maxThreads = availableParallelism() > 2 ? 2 : 1;
  const threads = new Set<Thread<Job, Result>>();
  const waiting: Waiting<Job, Result>[] = [];

  function assign(): void {
    for (const thread of threads) if (!thread.current) give(thread);
    while (waiting.length > 0 && threads.size < maxThreads) give(start());
  }

  function give(thread: Thread<Job, Result>): void {
    const next = waiting.shift();
    if (!next) return;
    clearTimeout(thread.idle);
    thread.current = next;
    thread.worker.postMessage(next.job);
  }

  function start(): Thread<Job, Result> {
    const worker = new Worker(file);
    worker.unref();
    const thread: Thread<Job, Result> = { worker, current: undefined, idle: undefined };
    threads.add(thread);
    worker.on("message", (answer: JobAnswer<Result>) => {
      const done = thread.current;
      thread.current = undefined;
      thread.idle = setTimeout(() => void end(thread), IDLE_MS).unref();
      if ("result" in answer) done?.resolve(answer.result);
      else done?.reject(new ThreadEndedError(`It failed: ${answer.failure}`, { reason: answer.failure }));
      assign();
    });
    const ended = (reason: string) => {
      threads.delete(thread);
      const lost = thread.current;
      thread.current = undefined;
      if (!lost) return;
      logger?.warn({ reason }, "a thread for large JSON ended; its job fails");
      lost.reject(new ThreadEndedError(`Its thread ended: ${reason}`, { reason }));
      assign();
    };
    worker.on("error", (error) => ended(error instanceof Error ? error.message : String(error)));
    worker.on("exit", (code) => ended(`exit code ${code}`));
    return thread;
  }

  async function end(thread: Thread<Job, Result>): Promise<void> {
    clearTimeout(thread.idle);
    threads.delete(thread);
    await thread.worker.terminate();
  }

  return {
    perform(job) {
      if (!hasThreads) return Promise.resolve(perform(job));
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        assign();
      });
    },
    async stop() {
      await Promise.all([...threads].map(end));
    },
  };
}
