import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import type { Logger } from "./create-logger.ts";

/**
 * Setting `DEAD_AFTER_MS`: after this time without a heartbeat, in milliseconds, other workers declare a
 * worker dead and take over its work. A worker that was declared dead although it lives may be silent for twice
 * as long for a while ({@link createAllowedSilence}).
 */
export const DeadAfterSchema = z.coerce.number().int().min(1_000).max(600_000).default(5_000);

/** The part of the store that a heartbeat needs (`WorkerStore`). */
export interface HeartbeatStore {
  declarePredecessorsDead(worker: { _id: string; kind: WorkerKind; addressKey: string }): Promise<number>;
  addWorker(worker: NewWorker): Promise<void>;
  beat(owner: string, deadAfterMs: number): Promise<boolean>;
  retireWorker(owner: string): Promise<void>;
  removeWorker(owner: string): Promise<void>;
  takeFromDead(options: { declaresSilent: boolean }): Promise<{
    owners: readonly string[];
    plans: number;
    requests: number;
  }>;
}

type WorkerKind = "planner" | "executor";

interface NewWorker {
  _id: string;
  kind: WorkerKind;
  hasModel?: boolean | undefined;
  addressKey: string | null;
  deadAfterMs: number;
}

/** Options of {@link startHeartbeat}. */
export interface HeartbeatOptions {
  workers: HeartbeatStore;
  /** Name of this process; no other process ever had this name. */
  name: string;
  kind: WorkerKind;
  /** Whether a planner has a language model. */
  hasModel?: boolean | undefined;
  /**
   * Key of the address at which this process listens (`workerAddressKey`). An earlier process at this address
   * has ended, so its work is taken over at once.
   */
  addressKey: string | null;
  /** Time without a heartbeat after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  /** Called when this process was declared dead: its leases are lost, and it continues under another name. */
  onDead: () => void;
  /** Called when this process has made work of dead workers due: it may be claimed now. Default: nothing. */
  onTaken?: (() => void) | undefined;
  logger: Logger;
  /** Default: the platform's. */
  clock?: Pick<RunClock, "now" | "every"> | undefined;
}

/** The liveness of a process, for work under its leases. */
export interface Liveness {
  /** Name of this process in new leases. Leases under an earlier name are lost. */
  owner(): string;
  /**
   * Calls may start until this reading of the monotonic clock: no other worker can have declared this process
   * dead before.
   */
  validUntil(): number;
  /** Resolves at the next acknowledged heartbeat, or when the process was declared dead. */
  nextAnswer(): Promise<void>;
}

/** A running heartbeat. */
export interface Heartbeat extends Liveness {
  /** Announces that this process takes no more work; the heartbeat continues for the work that it holds. */
  retire(): Promise<void>;
  /**
   * Ends the heartbeat and removes this process from the workers; safe to call twice. @throws what the store
   * throws
   */
  stop(): Promise<void>;
}

/** Number of heartbeats within `deadAfterMs`: some may be late, and some may fail. */
const BEATS = 5;
/** Longest interval between two heartbeats, in milliseconds. */
const MAX_BEAT_MS = 1_000;
/**
 * After a gap of this share of `deadAfterMs` between its own heartbeats a process does not declare others
 * dead for a while, because the gap may be its own fault.
 */
const OWN_GAP_SHARE = 0.5;

/**
 * Announces this process before it resolves, then sends a heartbeat about once a second until it is stopped,
 * and takes over the work of dead workers. A process that was declared dead continues under another name.
 * @throws what the store throws at the start
 */
export async function startHeartbeat(options: HeartbeatOptions): Promise<Heartbeat> {
  const { workers, name, kind, hasModel, addressKey, deadAfterMs, onDead, logger } = options;
  const { clock = createRunClock() } = options;
  const everyMs = Math.min(MAX_BEAT_MS, Math.floor(deadAfterMs / BEATS));
  const silence = createAllowedSilence(deadAfterMs);
  let incarnation = 1;
  let owner = name;
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** From this time the silence of other workers is not caused by this process. */
  let judgesFrom = clock.now() + 2 * everyMs;
  let isRetired = false;
  let waiting: (() => void)[] = [];

  function noteAnswered(sentAt: number): void {
    const gapMs = sentAt - answeredAt;
    if (Number.isFinite(gapMs) && gapMs > deadAfterMs * OWN_GAP_SHARE) judgesFrom = sentAt + deadAfterMs;
    // The time here falls before the next heartbeat stores it, so that calls end before others declare death.
    silence.answered(sentAt, gapMs);
    answeredAt = sentAt;
    resolveWaiting();
  }

  function resolveWaiting(): void {
    const resolvers = waiting;
    waiting = [];
    for (const resolve of resolvers) resolve();
  }

  async function add(): Promise<void> {
    const sentAt = clock.now();
    await workers.addWorker({ _id: owner, kind, hasModel, addressKey, deadAfterMs: silence.ms() });
    if (isRetired) await workers.retireWorker(owner);
    noteAnswered(sentAt);
  }

  async function addAgain(): Promise<void> {
    if (Number.isFinite(answeredAt)) silence.declaredDead();
    logger.warn(
      { owner, deadAfterMs: silence.ms() },
      "this process was declared dead: it was silent for too long; its leases are lost, and it may be silent for longer now",
    );
    incarnation += 1;
    owner = `${name}.${incarnation}`;
    answeredAt = Number.NEGATIVE_INFINITY;
    onDead();
    resolveWaiting();
    await add();
  }

  async function takeFromDead(): Promise<void> {
    const taken = await workers.takeFromDead({ declaresSilent: clock.now() >= judgesFrom });
    if (taken.plans + taken.requests === 0) return;
    logger.warn(taken, "workers have died; what they held is due now");
    options.onTaken?.();
  }

  let taking: Promise<void> | undefined;
  /** Heartbeats do not wait for it: it is several operations, and one of them may get no answer for long. */
  function look(): void {
    taking ??= takeFromDead()
      .catch((error: unknown) =>
        logger.warn({ err: error }, "could not look for dead workers; the next heartbeat tries again"),
      )
      .finally(() => {
        taking = undefined;
      });
  }

  async function beat(): Promise<void> {
    const sentAt = clock.now();
    if (await workers.beat(owner, silence.ms())) noteAnswered(sentAt);
    else await addAgain();
    look();
  }

  if (addressKey !== null) await workers.declarePredecessorsDead({ _id: owner, kind, addressKey });
  await add();
  look();
  let inFlight: Promise<void> | undefined;
  const end = clock.every(everyMs, () => {
    inFlight ??= beat()
      .catch(onError)
      .finally(() => {
        inFlight = undefined;
      });
  });
  function onError(error: unknown): void {
    logger.warn({ err: error }, "heartbeat not answered; the next one tries again");
  }

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    end();
    // A heartbeat after the end would register the process again.
    await inFlight;
    await taking;
    resolveWaiting();
    await workers.removeWorker(owner);
  };
  return {
    owner: () => owner,
    validUntil: () => answeredAt + silence.ms(),
    nextAnswer: () => new Promise((resolve) => waiting.push(resolve)),
    async retire() {
      isRetired = true;
      await workers.retireWorker(owner);
    },
    stop: () => (stopped ??= stop()),
  };
}

/** A name of this process for leases, attempts and states of servers. */
export function workerName(): string {
  return `${hostname()}:${process.pid}:${crypto.randomUUID().slice(0, 8)}`;
}

/** How long a process may be silent before others declare it dead, given how it fared. */
interface AllowedSilence {
  /** In milliseconds. */
  ms(): number;
  /** Reports that the process was declared dead although it lives. */
  declaredDead(): void;
  /** Reports a heartbeat that was answered, by the time when it was sent, and the time since the one before. */
  answered(sentAtMs: number, gapMs: number): void;
}

/** The longest silence that is allowed, as a multiple of the least. */
const MAX_MULTIPLE = 8;
/** After this many allowed silences without a long gap, half of the time is allowed again. */
const CALM_SILENCES = 6;
/** A gap between heartbeats of more than this share of the least silence is long. */
const LONG_GAP_SHARE = 0.5;

/**
 * A process that was declared dead although it lives is on an overloaded machine, or its database is. Its work
 * was taken over and has to be repeated, which is more load, so that more processes are declared dead: without
 * an end, since each loses its work before it can finish any. So it may be silent for twice as long under its
 * next name, and again half as long after a calm time. An adaptive failure detector, as in Chen, Toueg and
 * Aguilera, "On the quality of service of failure detectors" (2002).
 * @param leastMs - the silence that is allowed at the start, in milliseconds
 */
export function createAllowedSilence(leastMs: number): AllowedSilence {
  let ms = leastMs;
  let calmSince = Number.NEGATIVE_INFINITY;
  return {
    ms: () => ms,
    declaredDead() {
      ms = Math.min(MAX_MULTIPLE * leastMs, 2 * ms);
    },
    answered(sentAtMs, gapMs) {
      if (gapMs > leastMs * LONG_GAP_SHARE) calmSince = sentAtMs;
      if (ms === leastMs || sentAtMs - calmSince < CALM_SILENCES * ms) return;
      ms /= 2;
      calmSince = sentAtMs;
    },
  };
}

/**
 * Time, random numbers and ids for a worker: from the platform, or from a simulation that repeats exactly.
 */
export interface RunClock {
  /** Monotonic milliseconds of this process; `Liveness.validUntil` is a reading of this clock. */
  now(): number;
  /** CPU time that this process has used so far, over all of its threads, in milliseconds. */
  computed(): number;
  /** Calls `then` once, after `delayMs`, 0 to 2^31 - 1. Returns a function that cancels it. */
  after(delayMs: number, then: () => void): () => void;
  /**
   * Calls `then` every `periodMs`; the timer does not keep the process alive. Returns a function that ends
   * it.
   */
  every(periodMs: number, then: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
  /** A unique id. */
  id(): string;
}

/** The clock of the platform. */
export function createRunClock(): RunClock {
  return {
    now: () => performance.now(),
    computed() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    after(delayMs, then) {
      const timer = setTimeout(then, delayMs);
      return () => clearTimeout(timer);
    },
    every(periodMs, then) {
      const timer = setInterval(then, periodMs).unref();
      return () => clearInterval(timer);
    },
    random: () => Math.random(),
    id: () => randomUUID(),
  };
}

/**
 * Key of the address at which a process listens, unique over all machines: the boot of the kernel, the
 * network namespace, and the address. Of two processes with the same key, the second could listen only after
 * the first had ended or closed its server. Null when the system does not provide these facts (Linux does).
 * @param url - of a server that is listening
 * @param read - default: the files of Linux
 */
export function workerAddressKey(url: string, read: SystemFacts = linuxFacts): string | null {
  const facts = read();
  return facts && `${facts.boot} ${facts.network} ${new URL(url).host}`;
}

/** Facts that distinguish machines and their networks; null where they are unknown. */
type SystemFacts = () => { boot: string; network: string } | null;

function linuxFacts(): ReturnType<SystemFacts> {
  try {
    return {
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      network: readlinkSync("/proc/self/ns/net"),
    };
  } catch {
    // On another system a restart is noticed when the heartbeat is missing.
    return null;
  }
}
