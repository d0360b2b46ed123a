/**
 * Threads for jobs that would block the event loop, such as reading large JSON: heartbeats and small requests are
 * not late because of them. Jobs and their results are plain data.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { type MessagePort, parentPort, Worker } from "node:worker_threads";
import { CodedError } from "@planwright/plan";
import type { Logger } from "./create-logger.ts";

/** A thread ended during a job, most often because the job needs more memory than a thread may have. */
export class ThreadEndedError extends CodedError<{ reason: string }> {
  readonly code = "THREAD_ENDED";
  readonly retryable = false;
}

/** The threads were stopped before the job was done: this says nothing about the job. */
class ThreadsStoppedError extends CodedError {
  readonly code = "THREADS_STOPPED";
  readonly retryable = true;
  constructor() {
    super("This process ends, and the job was not done", {});
  }
}

/** Options of {@link createJobThreads}. */
interface JobThreadsOptions<Job, Result> {
  /**
   * The file of a thread, which calls {@link answerJobs}. If it does not exist, as in tests of the sources, jobs are
   * done on the event loop.
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
  /** Ends the threads. Jobs that are not done, and later ones, fail with an error of another code: `THREADS_STOPPED`. */
  stop: () => Promise<void>;
}

/** What a thread answers. */
type JobAnswer<Result> = { result: Result } | { failure: string };

interface Waiting<Job, Result> {
  job: Job;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

interface Thread<Job, Result> {
  worker: Worker;
  send: (job: Job) => void;
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
  let isStopped = false;

  function assign(): void {
    for (const thread of threads) if (!thread.current) give(thread);
    while (waiting.length > 0 && threads.size < maxThreads) give(start());
  }

  function give(thread: Thread<Job, Result>): void {
    const next = waiting.shift();
    if (!next) return;
    clearTimeout(thread.idle);
    thread.current = next;
    thread.send(next.job);
  }

  function start(): Thread<Job, Result> {
    const worker = new Worker(file);
    worker.unref();
    const send = openChannel<Job, JobAnswer<Result>>(worker, (answer) => {
      const done = thread.current;
      thread.current = undefined;
      thread.idle = setTimeout(() => void end(thread), IDLE_MS).unref();
      if ("result" in answer) done?.resolve(answer.result);
      else done?.reject(new ThreadEndedError(`It failed: ${answer.failure}`, { reason: answer.failure }));
      assign();
    });
    const thread: Thread<Job, Result> = { worker, send, current: undefined, idle: undefined };
    threads.add(thread);
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
      if (isStopped) return Promise.reject(new ThreadsStoppedError());
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        assign();
      });
    },
    async stop() {
      isStopped = true;
      const undone = waiting.splice(0);
      for (const thread of threads) {
        if (thread.current) undone.push(thread.current);
        thread.current = undefined;
      }
      for (const { reject } of undone) reject(new ThreadsStoppedError());
      await Promise.all([...threads].map(end));
    },
  };
}

/**
 * Does the jobs of a thread, one after the other.
 * @param moved - the buffers of a result that are moved to the main thread, not copied
 */
export function answerJobs<Job, Result>(
  perform: (job: Job) => Result,
  moved: (result: Result) => ArrayBuffer[],
): void {
  if (!parentPort) return;
  const send = openChannel<JobAnswer<Result>, Job>(parentPort, (job) => {
    try {
      const result = perform(job);
      send({ result }, moved(result));
    } catch (error) {
      send({ failure: error instanceof Error ? error.message : String(error) });
    }
  });
}

/** The parts of a port of `node:worker_threads` that a channel uses. */
type Port = Pick<MessagePort, "postMessage"> & {
  on(event: string, listener: (value: Message) => void): unknown;
};

/** A piece of a value, the answer that the next piece may come, or the rest of a value. */
type Message = { piece: string | Uint8Array } | { next: true } | { value: unknown; cuts: Cut[] };

/** A part of a value that was sent before it, in pieces. */
interface Cut {
  /** The fields that lead to it. */
  place: readonly (string | number)[];
  kind: "text" | "bytes" | "list of bytes";
  pieces: number;
}

/**
 * Characters or bytes in one piece. A message is copied in one turn of the event loop: this one takes 1 to 2 ms, and
 * 8 MiB as much as 70.
 */
const PIECE_LENGTH = 262_144;
/** Longer texts and bytes are found down to this level of a value: the output of a call is the eighth. */
const MAX_LEVEL = 12;
/** Of a longer list only this many are looked at: the others are the data of clients, not of a job. */
const MAX_ENTRIES = 10_000;

/**
 * One end of a channel for plain data of any size. Long texts and bytes go in pieces, each after the other end has
 * taken the one before, so that neither end is blocked for long. The pieces of a list of bytes may get other bounds.
 * Returns the function that sends a value: one at a time.
 */
export function openChannel<Sent, Received>(
  port: Port,
  receive: (value: Received) => void,
): (value: Sent, moved?: ArrayBuffer[]) => void {
  let arrived: (string | Uint8Array)[] = [];
  let sendNext = (): void => undefined;
  port.on("message", (message: Message) => {
    // A port hands over all its messages in one turn: at once, a fast other end would get all pieces in this one.
    if ("next" in message) return void setImmediate(sendNext);
    if ("piece" in message) {
      arrived.push(message.piece);
      return port.postMessage({ next: true } satisfies Message);
    }
    const whole = { value: message.value };
    for (const { place, kind, pieces } of message.cuts)
      put(whole, place, joined(kind, arrived.splice(0, pieces)));
    arrived = [];
    receive(whole.value as Received);
  });
  return (value, moved = []) => {
    const cuts: Cut[] = [];
    const pieces: (string | Uint8Array[])[] = [];
    const rest = withoutLong({ value }, moved, [], (place, kind, cut) => {
      cuts.push({ place: [...place], kind, pieces: cut.length });
      pieces.push(...cut);
    }) as { value: unknown };
    const queue = pieces.values();
    sendNext = () => {
      const next = queue.next();
      if (next.done) return port.postMessage({ ...rest, cuts } satisfies Message, moved);
      const piece = typeof next.value === "string" ? next.value : ownBytes(next.value);
      port.postMessage({ piece } satisfies Message, typeof piece === "string" ? [] : [piece.buffer]);
    };
    sendNext();
  };
}

/**
 * Null for a long text; any other value with null in the places of long parts. What has none is not copied; nor are
 * bytes that threads share.
 * @param place - of the value; it changes while its fields are read
 */
function withoutLong(
  value: string | object,
  moved: readonly ArrayBuffer[],
  place: (string | number)[],
  cut: (place: Cut["place"], kind: Cut["kind"], pieces: (string | Uint8Array[])[]) => void,
): unknown {
  if (typeof value === "string") {
    cut(place, "text", textPieces(value));
    return null;
  }
  if (value instanceof Uint8Array) {
    const isCopied = value.buffer instanceof ArrayBuffer && !moved.includes(value.buffer);
    if (value.byteLength <= PIECE_LENGTH || !isCopied) return value;
    cut(place, "bytes", bytePieces([value]));
    return null;
  }
  if (isListOfBytes(value)) {
    cut(place, "list of bytes", bytePieces(value));
    return null;
  }
  const isList = Array.isArray(value);
  if (place.length === MAX_LEVEL || !(isList || isPlainObject(value))) return value;
  const fields = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  let count = 0;
  // A list of entries would cost more than all the rest: there are jobs for 10,000 items of some fields each.
  for (const key in fields) {
    count += 1;
    if (count > MAX_ENTRIES) break;
    const field = fields[key];
    // To set this field would set the prototype.
    if (!isLong(field) || key === "__proto__") continue;
    place.push(key);
    const rest = withoutLong(field, moved, place, cut);
    place.pop();
    if (rest === field) continue;
    copy ??= (isList ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = rest;
  }
  return copy ?? value;
}

/** True for a long text, and for what may have long parts. */
function isLong(value: unknown): value is string | object {
  return typeof value === "string"
    ? value.length > PIECE_LENGTH
    : typeof value === "object" && value !== null;
}

function isListOfBytes(value: object): value is Uint8Array[] {
  return (
    Array.isArray(value) && value[0] instanceof Uint8Array && value.every((one) => one instanceof Uint8Array)
  );
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function textPieces(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE_LENGTH) }, (_, index) =>
    text.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH),
  );
}

/** Groups of bytes, none of which is longer than a piece. */
function bytePieces(list: readonly Uint8Array[]): Uint8Array[][] {
  const groups: Uint8Array[][] = [];
  let room = 0;
  for (const bytes of list) {
    for (let start = 0; start < bytes.byteLength; start += PIECE_LENGTH) {
      const part = bytes.subarray(start, start + PIECE_LENGTH);
      if (part.byteLength > room) {
        groups.push([]);
        room = PIECE_LENGTH;
      }
      groups.at(-1)?.push(part);
      room -= part.byteLength;
    }
  }
  return groups;
}

/** The bytes in a buffer of their own, which can be moved to another thread. */
function ownBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  // Every byte is written below.
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

function joined(kind: Cut["kind"], pieces: (string | Uint8Array)[]): unknown {
  if (kind === "text") return pieces.join("");
  return kind === "bytes" ? ownBytes(pieces as Uint8Array[]) : pieces;
}

function put(whole: object, place: Cut["place"], part: unknown): void {
  let at = whole as Record<string, unknown>;
  for (const key of place.slice(0, -1)) at = at[key] as Record<string, unknown>;
  at[place.at(-1) ?? "value"] = part;
}
