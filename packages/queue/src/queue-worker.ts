import { setTimeout as delay } from "node:timers/promises";
import { type Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import {
  connect,
  DEFAULT_PREFIX,
  type OnError,
  openQueue,
  reportOnce,
  requireNoEviction,
} from "./connection.ts";
import {
  createFairQueue,
  type FairQueue,
  type Hint,
  type LocalFairQueue,
  type QueuedHint,
  type QueueName,
} from "./fair-queue.ts";

/** How long the start waits for a Redis that does not answer, in milliseconds. */
const START_WAIT_MS = 3_000;
const DEFAULT_GRACE_MS = 10_000;
const ABORT_WAIT_MS = 2_000;
/** How long work that is found without Redis waits behind a hint that Redis does not give, in milliseconds. */
const ANSWER_MS = 1_000;
/** How long a job waits for a slot of this process before other workers may take it, in milliseconds. */
const SLOT_WAIT_MS = 250;
/** So high that it never applies: MongoDB counts claims, so the number of stalls does not matter. */
const NO_STALLED_LIMIT = 1_000_000;

/**
 * Works on one request or plan until its end; it holds a slot so long.
 * @param begun - must be called when the work has begun: other work of the process may begin then
 */
export type Handle = (id: string, tenant: string, begun: () => void) => Promise<void>;

/** Settings of {@link createQueueWorker}. */
interface QueueWorkerOptions extends WorkerOptions {
  redisUrl: string;
  /** Prefix of every key in Redis, the same as in `createQueues`; default "planwright". */
  prefix?: string;
}

/** Settings of a worker, wherever its hints are. */
export interface WorkerOptions {
  queue: QueueName;
  /** The slots of this process, which the worker and the sweeper share. */
  slots: Slots;
  /**
   * A hint may come twice or late: MongoDB decides whether there is work. A rejection is reported; the sweeper
   * finds the work again.
   */
  handle: Handle;
  /**
   * Reserves work that is about to be stored as claimed by this process; null when the process does not take it.
   * `leave` is called when it is not stored, and after its `handle`. Default: nothing is reserved.
   */
  reserve?: ((id: string) => Pick<Place, "owner" | "leave"> | null) | undefined;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
}

/** A place of this process for work that is about to be stored as claimed by it. */
export interface Place {
  /** The owner of the lease. */
  owner: string;
  /** The work is stored: begins with it when the gate of the slots is free. */
  begin(): void;
  /** The work is not stored, or that is not known: gives the place to other work. */
  leave(): void;
}

/** A worker that takes jobs. */
export interface QueueWorker {
  /** True while Redis answers and jobs are taken. */
  isConnected(): boolean;
  /** Begins at once with a hint that is in no line. False, and nothing done, when this process has no room. */
  begin(hint: Hint): boolean;
  /** Reserves a place for work that is about to be stored. Null when this process has no room, or hints may wait. */
  reserve(hint: Hint): Place | null;
  /** Number of hints that no worker has taken. Waits without limit while Redis does not answer. */
  countWaiting(): Promise<number>;
  /** Sets how many turns a tenant gets for one of a tenant that is not named; for all workers. */
  setWeights(weights: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Takes no more jobs, waits for the jobs in progress, aborts them after `graceMs` (default 10,000), and
   * disconnects. Never rejects.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts to take jobs from a queue. A job says that there is work; which one it does is decided when it is
 * taken, by the turns of {@link createFairQueue}. A Redis that is unreachable, restarted or emptied only causes
 * delay: the worker reconnects. When Redis does not answer within 3 s of the start, the worker begins as soon as it
 * does.
 * @throws {RedisEvictsError} when Redis answers in that time and may evict jobs; later it is reported instead
 */
export async function createQueueWorker(options: QueueWorkerOptions): Promise<QueueWorker> {
  const report = reportOnce(options.onError);
  const client = connect(options.redisUrl, report);
  const { prefix = DEFAULT_PREFIX } = options;
  const hints = createFairQueue(client, prefix, options.queue);
  const work = createHintWork(hints, options, report);
  let worker: Worker | undefined;
  let queue: Queue | undefined;
  let isClosing = false;

  async function onJob(signal: AbortSignal): Promise<void> {
    const { slots } = options;
    // The sweeper may hold slots too.
    if (slots.free() === 0) await delay(SLOT_WAIT_MS, undefined, { signal }).catch(() => undefined);
    if (slots.free() === 0) return addJob();
    await work.takeAll();
  }

  async function addJob(): Promise<void> {
    if (!isClosing) await queue?.add(options.queue, {});
  }

  const starting = requireNoEviction(client).then(() => {
    if (isClosing) return;
    queue = openQueue(options.queue, { connection: client, prefix, report });
    worker = openWorker(options, { connection: client, report, onJob });
    // For hints whose jobs were taken by a worker that died.
    addJob().catch(report);
    worker.run().catch(report);
  });
  const startTimeout = new AbortController();
  const timeoutPassed = delay(START_WAIT_MS, undefined, { signal: startTimeout.signal }).catch(
    () => undefined,
  );
  try {
    await Promise.race([starting, timeoutPassed]);
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    startTimeout.abort();
  }
  starting.catch((error: unknown) => {
    if (isClosing) return;
    isClosing = true;
    client.disconnect();
    report(error);
  });

  return {
    isConnected: () => !isClosing && client.status === "ready",
    begin: (hint) => work.begin(hint),
    reserve: (hint) => work.reserve(hint),
    countWaiting: () => hints.count(),
    setWeights: (weights) => hints.setWeights(weights),
    async close(graceMs = DEFAULT_GRACE_MS) {
      if (isClosing) return;
      isClosing = true;
      const jobs = worker?.close().catch(report);
      // Without Redis no job can be ended; the work is what counts.
      const closed = Promise.all([work.end(), client.status === "ready" ? jobs : undefined]);
      if (!(await endsWithin(closed, graceMs))) {
        worker?.cancelAllJobs("the worker is closing");
        await endsWithin(closed, ABORT_WAIT_MS);
      }
      client.disconnect();
    },
  };
}

function openWorker(
  { prefix = DEFAULT_PREFIX, queue, slots }: QueueWorkerOptions,
  {
    connection,
    report,
    onJob,
  }: { connection: Redis; report: OnError; onJob: (signal: AbortSignal) => Promise<void> },
): Worker {
  const worker = new Worker(queue, (_job, _token, signal = new AbortController().signal) => onJob(signal), {
    connection,
    prefix,
    concurrency: slots.max,
    autorun: false,
    maxStalledCount: NO_STALLED_LIMIT,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on("error", report);
  worker.on("failed", (_job, error) => report(error));
  return worker;
}

/** Work on hints, each of which begins when this process has room for it. */
interface HintWork {
  /**
   * Works on hints, one after the other, until none is left that this process may work on. A job does so because
   * the jobs for tenants that had all their slots were taken without work. What is left is found by the sweeper.
   */
  takeAll(): Promise<void>;
  begin: QueueWorker["begin"];
  reserve: QueueWorker["reserve"];
  /** Takes no more hints; resolves when no work is in progress. */
  end(): Promise<void>;
}

/** @param isEmpty - true when no hint waits. Default: when the last look found none */
function createHintWork(
  hints: FairQueue,
  { slots, handle, reserve }: Pick<WorkerOptions, "slots" | "handle" | "reserve">,
  report: OnError,
  isEmpty?: () => boolean,
): HintWork {
  const inProgress = new Set<Promise<void>>();
  let isEnding = false;
  /** False when no hint was left at the last look, and none was left since. */
  let mayWait = true;
  /** True from when a hint was not given in time until it is: other work begins meanwhile, and no hint is asked for. */
  let isSilent = false;
  const mayBeLeft = (): boolean => (isEmpty ? !isEmpty() : mayWait);

  /** A hint that is not given in time does not hold the gate. */
  async function take(full: readonly string[], begun: () => void): Promise<QueuedHint | null> {
    const late = setTimeout(() => {
      isSilent = true;
      begun();
    }, ANSWER_MS);
    try {
      return await hints.take(full);
    } finally {
      clearTimeout(late);
      isSilent = false;
    }
  }

  /** The hint is taken when its work may begin, so that it is the one whose turn it is then. */
  async function takeNext(): Promise<boolean> {
    const begun = await slots.enter();
    let release: (() => void) | null = null;
    try {
      if (isEnding || isSilent || slots.free() === 0) return false;
      const full = slots.full();
      const hint = await take(full, begun);
      mayWait = hint !== null || full.length > 0;
      if (!hint) return false;
      release = isEnding ? null : slots.take(hint.tenant);
      if (!release) {
        // The sweeper took the slot meanwhile.
        begun();
        await hints.push(hint);
        return false;
      }
      // A look costs nothing in memory: what is left begins now, beside this work.
      if (isEmpty) lookAgain();
      await track(handle(hint.id, hint.tenant, begun), hint.id);
      return true;
    } finally {
      begun();
      release?.();
    }
  }

  async function track(work: Promise<void>, id: string): Promise<void> {
    const ended = work.catch((error: unknown) => report(error, id)).finally(() => inProgress.delete(ended));
    inProgress.add(ended);
    await ended;
  }

  async function takeAll(): Promise<void> {
    while (!isEnding && !isSilent && slots.free() > 0) if (!(await takeNext())) return;
  }

  function lookAgain(): void {
    if (mayBeLeft()) takeAll().catch(report);
  }

  /** Gives a slot back, to the next hint if there may be one. */
  function giveBack(release: () => void): void {
    release();
    lookAgain();
  }

  /** Works without a hint in a slot. */
  async function work(
    { _id: id, tenant }: Hint,
    release: () => void,
    entering: Promise<() => void>,
  ): Promise<void> {
    const begun = await entering;
    try {
      await track(handle(id, tenant, begun), id);
    } finally {
      begun();
      giveBack(release);
    }
  }

  return {
    takeAll,
    begin(hint) {
      const begun = isEnding ? null : slots.enterNow();
      const release = begun && slots.take(hint.tenant);
      if (!begun || !release) {
        begun?.();
        mayWait = true;
        return false;
      }
      work(hint, release, Promise.resolve(begun)).catch(report);
      return true;
    },
    reserve(hint) {
      // Hints that wait come first.
      const release = isEnding || mayBeLeft() ? null : slots.take(hint.tenant);
      const reserved = release && reserve?.(hint._id);
      if (!reserved) {
        release?.();
        return null;
      }
      const leave = (): void => {
        reserved.leave();
        release();
      };
      return {
        owner: reserved.owner,
        begin: () => void work(hint, leave, slots.enter()).catch(report),
        leave: () => giveBack(leave),
      };
    },
    async end() {
      isEnding = true;
      await Promise.all(inProgress);
    },
  };
}

/** A worker on hints in the memory of this process. */
export interface LocalWorker extends QueueWorker {
  /** Looks for hints: one was pushed. */
  look(): void;
}

/** Starts to take hints of this process. It looks again a moment later when it could not take all of them. */
export function createLocalWorker(hints: LocalFairQueue, options: WorkerOptions): LocalWorker {
  const { slots } = options;
  const report = reportOnce(options.onError);
  const work = createHintWork(hints, options, report, () => hints.size() === 0);
  let takers = 0;
  let later: NodeJS.Timeout | undefined;
  let isClosing = false;

  function look(): void {
    if (takers < slots.max && slots.free() > 0) {
      takers += 1;
      work
        .takeAll()
        .catch(report)
        .finally(() => {
          takers -= 1;
          lookLater();
        });
    } else lookLater();
  }

  function lookLater(): void {
    if (isClosing) return;
    later ??= setTimeout(() => {
      later = undefined;
      void lookForAll();
    }, SLOT_WAIT_MS).unref();
  }

  async function lookForAll(): Promise<void> {
    const waiting = await hints.count();
    for (let left = Math.min(waiting, slots.max); left > 0; left -= 1) look();
  }

  void lookForAll();
  return {
    look,
    isConnected: () => !isClosing,
    begin: (hint) => work.begin(hint),
    reserve: (hint) => work.reserve(hint),
    countWaiting: () => hints.count(),
    setWeights: (weights) => hints.setWeights(weights),
    async close(graceMs = DEFAULT_GRACE_MS) {
      isClosing = true;
      clearTimeout(later);
      await endsWithin(work.end(), graceMs);
    },
  };
}

async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const timeout = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  return Promise.race([work.then(() => true), timeout]).finally(() => timer.abort());
}

/**
 * Places for work in one process, shared among tenants.
 *
 * 1. At most `max` pieces of work are in progress.
 * 2. A tenant that holds no slot may take any free one.
 * 3. A tenant that holds slots may take a further one if afterwards it holds at most three times as many as
 *    stay free. So one tenant alone holds three quarters of the slots; of the rest the next one gets three
 *    quarters, and so on: with 64 slots, four tenants that come one after another and fill all that they may
 *    hold 48, 12, 3 and 1. Work in progress is never interrupted, so this is what a newcomer can rely on.
 * 4. A tenant that is blocked takes none.
 * 5. Work begins through a gate that few may be in. Plans that end together are followed by plans that begin
 *    together, and without it the first call of a newcomer would wait for the claims of all of them.
 * 6. While only one tenant is known, it may take all slots, and the gate is open: claims that begin together
 *    are one write.
 *
 * The rule is the dynamic threshold of shared buffers. It needs at least two slots to keep one free.
 * @see A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 *   IEEE/ACM Transactions on Networking 6(2), 1998
 */
export interface Slots {
  /** Number of slots. */
  readonly max: number;
  /** Takes a slot for a tenant. Returns its release, safe to call twice; null when the tenant gets none. */
  take(tenant: string): (() => void) | null;
  /** Number of free slots. */
  free(): number;
  /** The tenants that get no further slot now, although some are free. */
  full(): string[];
  /**
   * Waits until further work may begin, in the order of the calls. Returns what ends the beginning, safe to call
   * twice.
   */
  enter(): Promise<() => void>;
  /** The same without a wait; null when it would wait. */
  enterNow(): (() => void) | null;
}

/** Dependencies of {@link createSlots}. */
export interface SlotsParts {
  /** Number of slots, from 1. */
  max: number;
  /** How much work may be in its beginning at once while more than one tenant is known. Default 8. */
  maxBeginning?: number | undefined;
  /** How many more pieces of work the process may start now. Default: as many as slots are free. */
  capacity?: (() => number) | undefined;
  /** True when more than one tenant is known. */
  isShared: () => boolean;
  /** Tenants that may start no work now. Default: none. */
  blocked?: (() => readonly string[]) | undefined;
}

/** More do not begin faster: a beginning is mostly processor time of this process. */
const MAX_BEGINNING = 8;
/** How many times the free slots a tenant may hold. */
const HELD_FOR_EACH_FREE = 3;

/** Slots of one process; all are free. */
export function createSlots({
  max,
  maxBeginning = MAX_BEGINNING,
  capacity = () => max,
  isShared,
  blocked = () => [],
}: SlotsParts): Slots {
  const held = new Map<string, number>();
  let taken = 0;
  let beginning = 0;
  /** Lets in work that waits for the gate, in order. */
  const outside: (() => void)[] = [];

  const free = (): number => Math.max(0, Math.min(max - taken, capacity()));
  const isOpen = (): boolean => beginning < maxBeginning || !isShared();

  function mayTake(tenant: string): boolean {
    const holds = held.get(tenant) ?? 0;
    const left = free();
    if (left === 0 || blocked().includes(tenant)) return false;
    return holds === 0 || !isShared() || holds + 1 <= HELD_FOR_EACH_FREE * (left - 1);
  }

  function enterOpenGate(): () => void {
    let isInside = true;
    beginning += 1;
    return () => {
      if (!isInside) return;
      isInside = false;
      beginning -= 1;
      while (outside.length > 0 && isOpen()) outside.shift()?.();
    };
  }

  return {
    max,
    free,
    full: () => [...new Set([...held.keys(), ...blocked()])].filter((tenant) => !mayTake(tenant)),
    take(tenant) {
      if (!mayTake(tenant)) return null;
      held.set(tenant, (held.get(tenant) ?? 0) + 1);
      taken += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        const rest = (held.get(tenant) ?? 1) - 1;
        if (rest > 0) held.set(tenant, rest);
        else held.delete(tenant);
      };
    },
    enter: () =>
      new Promise((resolve) => {
        const enter = (): void => resolve(enterOpenGate());
        if (isOpen()) enter();
        else outside.push(enter);
      }),
    enterNow: () => (isOpen() ? enterOpenGate() : null),
  };
}
