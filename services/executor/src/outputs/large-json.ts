/**
 * Reads large answers of tools and resolves large arguments in threads, so that the event loop never builds
 * these values: heartbeats and small calls are not late because of them.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import {
  type Answer,
  type Question,
  type StepError,
  toSent,
  type UnresolvedArguments,
} from "@planwright/engine";
import { CodedError, type JsonObject } from "@planwright/plan";
import type { Logger } from "@planwright/runtime";
import type { ReadAnswer, ReadLargeAnswer } from "@planwright/tools";
import type { SecretValues } from "../secrets/secrets.ts";
import {
  type LargeArguments,
  type LargeJob,
  type LargeResult,
  type LookupArguments,
  performJob,
  type ResolvedArguments,
  type WrittenArguments,
} from "./large-json-jobs.ts";
import type { JobAnswer } from "./large-json-worker.ts";
import type { OutputMemory } from "./output-memory.ts";

type ResolveOptions = Pick<Extract<LargeJob, { type: "resolve" }>, "isApproved" | "secrets">;

/** Large JSON beside the event loop. */
export interface LargeJson {
  read: ReadLargeAnswer;
  /** Resolves the arguments of a call. */
  resolve(unresolved: UnresolvedArguments, options: ResolveOptions): Promise<ResolvedArguments>;
  /** Writes the values of secrets into large arguments. Rejects when they are too large for that. */
  fill(large: LargeArguments, values: SecretValues): Promise<Uint8Array>;
  /** The arguments of a look-up of a call with large arguments. Rejects when they cannot be resolved. */
  lookup(
    large: LargeArguments,
    template: JsonObject,
    idempotencyKey: string,
  ): Promise<JsonObject | Uint8Array>;
  /** Answers a question of the engine. */
  answer(question: Question): Promise<Answer>;
  /** Ends the threads; jobs that are not done fail. */
  stop(): Promise<void>;
}

/** Dependencies of {@link createLargeJson}. */
export interface LargeJsonParts {
  memory?: Pick<OutputMemory, "use"> | undefined;
  logger?: Pick<Logger, "warn"> | undefined;
}

/** A thread ended during a job, most often because the job needs more memory than a thread may have. */
class ThreadEndedError extends CodedError<{ reason: string }> {
  readonly code = "THREAD_ENDED";
  readonly retryable = false;
}

/** Without a file for threads, as in tests of the sources, the jobs are done on the event loop. */
const WORKER = new URL("./large-json-worker.js", import.meta.url);
/** A thread without jobs ends after this time, in milliseconds, and its memory is free again. */
const IDLE_MS = 30_000;

interface Waiting {
  job: LargeJob;
  resolve: (result: LargeResult) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  current: Waiting | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** Starts no thread before the first job. */
export function createLargeJson({ memory, logger }: LargeJsonParts = {}): LargeJson {
  const hasThreads = existsSync(fileURLToPath(WORKER));
  // Each job takes all of one core, which the event loop needs too.
  const maxThreads = availableParallelism() > 2 ? 2 : 1;
  const threads = new Set<Thread>();
  const waiting: Waiting[] = [];

  function perform(job: LargeJob): Promise<LargeResult> {
    if (!hasThreads) return Promise.resolve(performJob(job));
    return new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject });
      assign();
    });
  }

  function assign(): void {
    for (const thread of threads) if (!thread.current) give(thread);
    while (waiting.length > 0 && threads.size < maxThreads) give(start());
  }

  function give(thread: Thread): void {
    const next = waiting.shift();
    if (!next) return;
    clearTimeout(thread.idle);
    thread.current = next;
    thread.worker.postMessage(next.job);
  }

  function start(): Thread {
    const worker = new Worker(WORKER);
    worker.unref();
    const thread: Thread = { worker, current: undefined, idle: undefined };
    threads.add(thread);
    worker.on("message", (answer: JobAnswer) => {
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
      logger?.warn({ reason }, "a thread for large JSON ended; its call fails");
      lost.reject(new ThreadEndedError(`Its thread ended: ${reason}`, { reason }));
      assign();
    };
    worker.on("error", (error) => ended(error instanceof Error ? error.message : String(error)));
    worker.on("exit", (code) => ended(`exit code ${code}`));
    return thread;
  }

  async function end(thread: Thread): Promise<void> {
    clearTimeout(thread.idle);
    threads.delete(thread);
    await thread.worker.terminate();
  }

  return {
    async read(answer) {
      const { message } = answer;
      const done = memory?.use(typeof message === "string" ? message.length : message.byteLength);
      try {
        return (await perform({ type: "read", answer })) as ReadAnswer;
      } finally {
        done?.();
      }
    },
    async resolve(unresolved, options) {
      const job = { type: "resolve", unresolved: toSent(unresolved), ...options } as const;
      try {
        return (await perform(job)) as ResolvedArguments;
      } catch (error) {
        if (!(error instanceof ThreadEndedError)) throw error;
        const why = `The arguments of step '${unresolved.step.id}' could not be built: ${error.message}`;
        const refused = new Map(unresolved.units.map(({ key }) => [key, tooLarge(why)]));
        return { arguments: undefined, warnings: [], sent: [], itemHashes: undefined, refused };
      }
    },
    async fill(large, values) {
      return ((await perform({ type: "fill", large, values })) as WrittenArguments).bytes;
    },
    async lookup(large, template, idempotencyKey) {
      const job = { type: "lookup", large, template, idempotencyKey } as const;
      const resolved = (await perform(job)) as LookupArguments;
      return "bytes" in resolved ? resolved.bytes : resolved.arguments;
    },
    async answer(question) {
      try {
        return (await perform({ type: "answer", question: toSent(question) })) as Answer;
      } catch (error) {
        if (!(error instanceof ThreadEndedError)) throw error;
        return failedAnswer(question, `Its outputs could not be read: ${error.message}`);
      }
    },
    async stop() {
      await Promise.all([...threads].map(end));
    },
  };
}

function tooLarge(why: string): StepError {
  const message = `${why}. Refer to fewer or smaller outputs`;
  return { code: "REFERENCES_TOO_LARGE", message, retryable: false };
}

function failedAnswer({ asks }: Question, why: string): Answer {
  const error = tooLarge(why);
  if (asks.type !== "part") return { type: asks.type, result: { ok: false, error } };
  const { name, room } = asks;
  return { type: "part", outputs: {}, leftOut: [{ name, steps: [], message: error.message }], room };
}
