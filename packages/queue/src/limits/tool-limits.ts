/**
 * Limits of tools over all executors: a distributed semaphore of leases in Redis.
 *
 * 1. One script gives slots, by Redis's own clock. A slot is renewed while its call runs; the slot of a
 *    holder that died is free when its lease ends.
 * 2. When Redis lost its memory (FLUSHALL, a restart, a failover), the holders announce their slots again,
 *    and no new holder gets a slot until a lease has passed. The same applies after a time in which no
 *    process reached Redis.
 * 3. Without Redis no caller gets a slot, and calls in progress continue.
 * 4. A call counts against the rate from its grant until `perMs` after the latest time at which it can have
 *    reached the tool.
 * 5. Slots go to the waiting tenants in turns, and within a tenant to the caller that asked first.
 */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { DEFAULT_PREFIX } from "../redis/connection.ts";
import { reconnectDelay } from "../redis/reconnect-delay.ts";
import { type OnError, reportOnce } from "../redis/report-once.ts";
import { createScript } from "../redis/script.ts";
import { ACQUIRE, LEAVE, RELEASE, RENEW } from "./limit-scripts.ts";
import { AcquireAnswerSchema, lifeKey, limitKeys, type ToolLimit, wakeChannel } from "./tool-limit.ts";

/** Settings of {@link createToolLimits}. */
export interface ToolLimitsOptions {
  redisUrl: string;
  /** Prefix of every key in Redis; default "planwright". The same for all executors. */
  prefix?: string | undefined;
  /**
   * Lease of a slot, in milliseconds: after this time without a renewal the slot is free. The same for all
   * executors. Default 10,000.
   */
  leaseMs?: number | undefined;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
}

/** The request for a slot. */
export interface SlotRequest {
  limit: ToolLimit;
  /** The tenant whose turn the call takes. Default: all such callers count as one. */
  tenant?: string | undefined;
  /** Identifies the call of its tenant over all executors and retries, for its position in the queue. */
  ticket: string;
  /** Ends the wait. */
  signal: AbortSignal;
}

/** A slot: the right to make one call. */
export interface Slot {
  /**
   * Must be awaited right before the call is sent. Resolves at once when the slot was granted a moment ago;
   * otherwise it first checks that the slot is still held. False when the signal ended that wait; then the
   * call must not be made.
   */
  confirm(): Promise<boolean>;
  /** Releases the slot. Never throws, never waits; a second call does nothing. */
  release(): void;
  /**
   * Stops renewing the slot. No other call gets it before its lease has ended, because the call may still be
   * running in the tool.
   */
  abandon(): void;
}

/**
 * A slot, or the wait for one: null when the signal has ended the wait. `retryAfterMs`: when it is worth
 * asking again, if known.
 */
export type Acquired =
  | { type: "granted"; slot: Slot }
  | { type: "waiting"; retryAfterMs: number; slot: Promise<Slot | null> };

/** The limits of all tools, as one executor uses them. */
export interface ToolLimits {
  /**
   * Asks once, and joins the queue when no slot is free. Resolves within a second, whatever Redis does. Never
   * rejects.
   */
  acquire(request: SlotRequest): Promise<Acquired>;
  /** Disconnects within two seconds, after releases have arrived. The caller releases all slots first. */
  close(): Promise<void>;
}

const DEFAULT_LEASE_MS = 10_000;
const RENEWALS_PER_LEASE = 5;
/** Longest wait for an answer of Redis. */
const ANSWER_MS = 1_000;
/** Interval at which a waiting caller asks; usually it is woken earlier. */
const POLL_MS = 500;
/** How long the position of a caller that does not ask again is kept in the queue. */
const STAY_MS = 3 * POLL_MS;
/** Pause after Redis gave no answer. */
const AWAY_MS = 1_000;
/** How much later than its grant, or its confirmation, a call may reach the tool. */
const REACH_MS = 1_000;
/** A call is confirmed again when its grant is older than this. */
const FRESH_MS = 200;
/** Longest pause of a rate limit after Redis forgot the calls. */
const CAUTION_MS = 60_000;

interface Answer {
  isGranted: boolean;
  retryAfterMs: number;
  /** Number of callers before it in the queue. */
  rank: number;
}

const NO_ANSWER: Answer = { isGranted: false, retryAfterMs: AWAY_MS, rank: 0 };
const acquireScript = createScript(ACQUIRE);
const releaseScript = createScript(RELEASE);
const renewScript = createScript(RENEW);
const leaveScript = createScript(LEAVE);

/** Connects without waiting for Redis. */
export function createToolLimits(options: ToolLimitsOptions): ToolLimits {
  const { redisUrl, prefix = DEFAULT_PREFIX, leaseMs = DEFAULT_LEASE_MS } = options;
  const report = reportOnce(options.onError);
  const channel = wakeChannel(prefix);
  const connection = connectForLimits({ redisUrl, channel, timeoutMs: ANSWER_MS, onError: report });
  const { client } = connection;
  const life = lifeKey(prefix);
  const sleepers = createSleepers();
  /** Calls in progress, by the key of their limit's holders. */
  const held = new Map<string, Set<string>>();
  /** Commands in progress that no caller waits for. */
  const inFlight = new Set<Promise<void>>();
  const timer = setInterval(renew, leaseMs / RENEWALS_PER_LEASE);
  connection.onWake((ticket) => sleepers.wake(ticket));
  connection.onReady(renew);

  /** Sends a command without waiting for it; `close` waits. */
  function send(command: Promise<unknown>): void {
    const done = command.then(() => undefined, report).finally(() => inFlight.delete(done));
    inFlight.add(done);
  }

  /** Announces all calls of this process as running; without calls, announces the process (invariant 2). */
  function renew(): void {
    connection.askAgain();
    const run = connection.runId();
    if (run === undefined) return;
    const limits = held.size > 0 ? [...held] : [[life, new Set<string>()] as const];
    for (const [holders, members] of limits) {
      send(renewScript(client, [life, holders], [run, leaseMs, ...members]));
    }
  }

  async function ask(request: SlotRequest, member: string): Promise<Answer> {
    const { limit } = request;
    const run = connection.runId();
    if (run === undefined) return NO_ANSWER;
    const { holders, log, line, seen, away, turns } = limitKeys(prefix, limit);
    const { maxConcurrency = 0, rate = { max: 0, perMs: 0 } } = limit;
    const bounds = [maxConcurrency, rate.max, rate.perMs, STAY_MS, REACH_MS, CAUTION_MS];
    try {
      const answer = await acquireScript(
        client,
        [life, holders, log, line, seen, away, turns],
        [run, leaseMs, member, placeOf(request), ...bounds],
      );
      const [isGranted, retryAfterMs, rank] = AcquireAnswerSchema.parse(answer);
      return { isGranted: isGranted === 1, retryAfterMs: retryAfterMs < 0 ? POLL_MS : retryAfterMs, rank };
    } catch (error) {
      report(error);
      return NO_ANSWER;
    }
  }

  /** Waits until it is worth asking again; callers further back ask less often. */
  function pause(request: SlotRequest, { retryAfterMs, rank }: Answer): Promise<void> {
    const pollMs = POLL_MS * (1 + Math.min(rank, 250) / 25);
    return sleepers.sleep(placeOf(request), Math.min(Math.max(1, retryAfterMs), pollMs), request.signal);
  }

  /** Stops renewing a slot. */
  function forget(holders: string, member: string): void {
    const members = held.get(holders);
    members?.delete(member);
    if (members?.size === 0) held.delete(holders);
  }

  function sendRelease({ limit }: SlotRequest, member: string, isSent: boolean): void {
    const { holders, log, line } = limitKeys(prefix, limit);
    forget(holders, member);
    if (connection.runId() === undefined) return; // its lease ends by itself
    const args = [member, isSent ? 1 : 0, limit.maxConcurrency ?? 0, channel];
    send(releaseScript(client, [holders, log, line], args));
  }

  function createSlot(request: SlotRequest, member: string, askedAt: number): Slot {
    const { holders } = limitKeys(prefix, request.limit);
    held.set(holders, (held.get(holders) ?? new Set()).add(member));
    let confirmedAt = askedAt;
    let isSent = false;
    let isReleased = false;
    return {
      async confirm() {
        while (performance.now() - confirmedAt > FRESH_MS) {
          if (request.signal.aborted) return false;
          const at = performance.now();
          const answer = await ask(request, member);
          if (answer.isGranted) confirmedAt = at;
          else await pause(request, answer);
        }
        isSent = true;
        return true;
      },
      release() {
        if (isReleased) return;
        isReleased = true;
        sendRelease(request, member, isSent);
      },
      abandon() {
        if (isReleased) return;
        isReleased = true;
        forget(holders, member);
      },
    };
  }

  async function wait(request: SlotRequest, member: string, first: Answer): Promise<Slot | null> {
    const { signal } = request;
    const ticket = placeOf(request);
    sleepers.begin(ticket);
    for (let answer = first; ; ) {
      await pause(request, answer);
      if (signal.aborted) break;
      const askedAt = performance.now();
      answer = await ask(request, member);
      if (!answer.isGranted) continue;
      sleepers.end(ticket);
      return createSlot(request, member, askedAt);
    }
    sleepers.end(ticket);
    leave(request, member);
    return null;
  }

  function leave(request: SlotRequest, member: string): void {
    if (connection.runId() === undefined) return;
    const { line, seen, away, turns } = limitKeys(prefix, request.limit);
    send(leaveScript(client, [line, seen, away, turns], [placeOf(request)]));
    // Redis may have granted a slot whose answer was lost.
    sendRelease(request, member, false);
  }

  return {
    async acquire(request) {
      const member = randomUUID();
      const askedAt = performance.now();
      const answer = await ask(request, member);
      if (answer.isGranted) return { type: "granted", slot: createSlot(request, member, askedAt) };
      return { type: "waiting", retryAfterMs: answer.retryAfterMs, slot: wait(request, member, answer) };
    },
    async close() {
      clearInterval(timer);
      await Promise.all(inFlight); // a script that Redis does not have yet is sent a second time, which these promises include
      await connection.close();
    },
  };
}

/** The name of a caller in the line, from which the scripts read its tenant. */
function placeOf({ tenant = "", ticket }: SlotRequest): string {
  return `${tenant}\n${ticket}`;
}

/** The callers that wait in this process, by ticket. */
interface Sleepers {
  /** Registers the ticket: from now on a wake is remembered. */
  begin(ticket: string): void;
  end(ticket: string): void;
  /**
   * Resolves after `ms`, when the ticket is woken or was woken since the last sleep, or when the signal is
   * aborted.
   */
  sleep(ticket: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Wakes a ticket. A ticket without a caller here belongs to another process. */
  wake(ticket: string): void;
}

interface Sleeper {
  isCalled: boolean;
  rouse: (() => void) | undefined;
}

/** Starts without waiting callers. */
function createSleepers(): Sleepers {
  const sleepers = new Map<string, Sleeper>();
  return {
    begin: (ticket) => void sleepers.set(ticket, { isCalled: false, rouse: undefined }),
    end: (ticket) => void sleepers.delete(ticket),
    async sleep(ticket, ms, signal) {
      const sleeper = sleepers.get(ticket);
      if (signal.aborted || sleeper?.isCalled) {
        if (sleeper) sleeper.isCalled = false;
        return;
      }
      await new Promise<void>((resolve) => {
        const rouse = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", rouse);
          if (sleeper) sleeper.rouse = undefined;
          resolve();
        };
        const timer = setTimeout(rouse, ms);
        signal.addEventListener("abort", rouse, { once: true });
        if (sleeper) sleeper.rouse = rouse;
      });
    },
    wake(ticket) {
      const sleeper = sleepers.get(ticket);
      if (sleeper?.rouse) sleeper.rouse();
      else if (sleeper) sleeper.isCalled = true;
    },
  };
}

const MAX_RECONNECT_DELAY_MS = 500;
/** A server that does not answer for this time, in milliseconds, is disconnected and connected to again. */
const SILENCE_MS = 5_000;

/** A connection whose commands are answered soon or fail, because the caller waits for the answer. */
interface LimitConnection {
  client: Redis;
  /** Identifies the run of the Redis server; undefined while there is no connection. */
  runId(): string | undefined;
  /** Called with each ticket that any process wakes. */
  onWake(listen: (ticket: string) => void): void;
  /** Called whenever the connection is open again and the run of the server is known. */
  onReady(listen: () => void): void;
  /** Asks for the run again, if the first query got no answer. */
  askAgain(): void;
  /** Closes after the answer to the last command, or its timeout. */
  close(): Promise<void>;
}

/** Connects without waiting for Redis, and again whenever the connection is lost. */
function connectForLimits(options: {
  redisUrl: string;
  /** Channel on which tickets are woken. */
  channel: string;
  /** Timeout of a command, in milliseconds. */
  timeoutMs: number;
  onError: OnError;
}): LimitConnection {
  const { redisUrl, channel, timeoutMs } = options;
  const report = reportOnce(options.onError);
  const common = {
    retryStrategy: reconnectDelay(MAX_RECONNECT_DELAY_MS),
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"), // a failover made this one a replica
    keepAlive: 10_000,
    connectTimeout: 2_000,
  };
  const client = new Redis(redisUrl, {
    ...common,
    commandTimeout: timeoutMs,
    enableOfflineQueue: false,
    // After a lost connection commands are not sent again: they would be late.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
  });
  const subscriber = new Redis(redisUrl, { ...common, maxRetriesPerRequest: null });
  let runId: string | undefined;
  const ready: (() => void)[] = [];

  async function readRun(): Promise<void> {
    const info = await client.info("server");
    runId = /^run_id:(\S+)/m.exec(info)?.[1];
    for (const listen of ready) listen();
  }

  const startReading = (): void => void readRun().catch(report);
  client.on("ready", startReading);
  client.on("close", () => {
    runId = undefined;
  });
  client.on("error", report);
  subscriber.on("error", report);
  subscriber.subscribe(channel).catch(report);

  return {
    client,
    runId: () => runId,
    onWake: (listen) => void subscriber.on("message", (_channel, ticket) => listen(ticket)),
    onReady: (listen) => void ready.push(listen),
    askAgain() {
      if (client.status === "ready" && runId === undefined) startReading();
    },
    async close() {
      subscriber.disconnect();
      await client.quit().catch(() => undefined);
      client.disconnect();
    },
  };
}
