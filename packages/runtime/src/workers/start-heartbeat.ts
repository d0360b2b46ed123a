import { hostname } from "node:os";
import { z } from "zod";
import type { Logger } from "../logging/create-logger.ts";
import { createRunClock, type RunClock } from "./run-clock.ts";

/** Setting `DEAD_AFTER_MS`: the silence after which others declare a worker dead and take what it holds, in milliseconds. */
export const DeadAfterSchema = z.coerce.number().int().min(1_000).max(600_000).default(5_000);

/** Where workers are known: the part of the store that a heartbeat needs (`WorkerStore`). */
export interface KnownWorkers {
  removePredecessors(worker: { _id: string; kind: WorkerKind; place: string }): Promise<number>;
  addWorker(worker: NewWorker): Promise<void>;
  beat(owner: string): Promise<boolean>;
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
  place: string | null;
  deadAfterMs: number;
}

/** What a heartbeat needs. */
export interface HeartbeatOptions {
  workers: KnownWorkers;
  /** Names this process; no other one ever had the name. */
  name: string;
  kind: WorkerKind;
  /** Whether a planner has a language model. */
  hasModel?: boolean | undefined;
  /** Where this process listens (`workerPlace`): what was started there before has ended, and what it held need not wait. */
  place: string | null;
  /** Silence after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  /** Told that this process was declared dead: what it holds is lost, and it goes on under another name. */
  onDead: () => void;
  logger: Logger;
  /** Default: the platform's. */
  clock?: Pick<RunClock, "now" | "every"> | undefined;
}

/** What work under a lease asks of its process's life. */
export interface Liveness {
  /** Names this process in the leases that it takes now: what it holds under another name is lost. */
  owner(): string;
  /** No call may start later: a reading of the monotonic clock. Until then no other worker can have declared this process dead. */
  validUntil(): number;
  /** Resolves at the next answered beat, or when the process was declared dead. */
  heard(): Promise<void>;
}

/** A heartbeat that has begun. */
export interface Heartbeat extends Liveness {
  /** Says that this process takes no more work; it goes on beating for what it holds. */
  retire(): Promise<void>;
  /** Ends it and says so; safe to call twice. @throws what the store throws */
  stop(): Promise<void>;
}

/** Beats within the silence that others wait for: some may be late, and some may fail. */
const BEATS = 5;
/** Most between two beats, in milliseconds. */
const MAX_BEAT_MS = 1_000;
/** A gap between its own beats, as a share of `deadAfterMs`, after which a process waits before it judges others: it may be the one that was away. */
const OWN_GAP_SHARE = 0.5;

/**
 * Says that this process lives before it resolves, then about once a second until it is stopped, and takes what dead workers hold. A process that
 * was declared dead goes on under another name. @throws what the store throws at the start
 */
export async function startHeartbeat(options: HeartbeatOptions): Promise<Heartbeat> {
  const { workers, name, kind, hasModel, place, deadAfterMs, onDead, logger } = options;
  const { clock = createRunClock() } = options;
  const everyMs = Math.min(MAX_BEAT_MS, Math.floor(deadAfterMs / BEATS));
  let life = 1;
  let owner = name;
  let heardAt = Number.NEGATIVE_INFINITY;
  /** From when on the silence of others is their own. */
  let judgesFrom = clock.now() + 2 * everyMs;
  let isRetired = false;
  let waiting: (() => void)[] = [];

  function noteHeard(sentAt: number): void {
    const gapMs = sentAt - heardAt;
    if (Number.isFinite(gapMs) && gapMs > deadAfterMs * OWN_GAP_SHARE) judgesFrom = sentAt + deadAfterMs;
    heardAt = sentAt;
    tellWaiting();
  }

  function tellWaiting(): void {
    const told = waiting;
    waiting = [];
    for (const resolve of told) resolve();
  }

  async function add(): Promise<void> {
    const sentAt = clock.now();
    await workers.addWorker({ _id: owner, kind, hasModel, place, deadAfterMs });
    if (isRetired) await workers.retireWorker(owner);
    noteHeard(sentAt);
  }

  async function addAgain(): Promise<void> {
    logger.warn(
      { owner },
      "this process was declared dead: it was silent for too long; what it held is lost",
    );
    life += 1;
    owner = `${name}.${life}`;
    heardAt = Number.NEGATIVE_INFINITY;
    onDead();
    tellWaiting();
    await add();
  }

  async function takeFromDead(): Promise<void> {
    const taken = await workers.takeFromDead({ declaresSilent: clock.now() >= judgesFrom });
    if (taken.plans + taken.requests > 0) logger.warn(taken, "workers have died; what they held is due now");
  }

  async function beat(): Promise<void> {
    const sentAt = clock.now();
    if (await workers.beat(owner)) noteHeard(sentAt);
    else await addAgain();
    await takeFromDead();
  }

  if (place !== null) await workers.removePredecessors({ _id: owner, kind, place });
  await add();
  let underWay: Promise<void> | undefined = takeFromDead()
    .catch(onError)
    .finally(() => {
      underWay = undefined;
    });
  const end = clock.every(everyMs, () => {
    underWay ??= beat()
      .catch(onError)
      .finally(() => {
        underWay = undefined;
      });
  });
  function onError(error: unknown): void {
    logger.warn({ err: error }, "heartbeat not answered; the next one tries again");
  }

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    end();
    // A beat that comes after the end would bring the process back to life.
    await underWay;
    tellWaiting();
    await workers.removeWorker(owner);
  };
  return {
    owner: () => owner,
    validUntil: () => heardAt + deadAfterMs,
    heard: () => new Promise((resolve) => waiting.push(resolve)),
    async retire() {
      isRetired = true;
      await workers.retireWorker(owner);
    },
    stop: () => (stopped ??= stop()),
  };
}

/** A name for this process in leases, attempts and states of servers. */
export function workerName(): string {
  return `${hostname()}:${process.pid}:${crypto.randomUUID().slice(0, 8)}`;
}
