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
 *    reached the tool: its answer, or a second after its confirmation if it has no answer by then. The grant of a
 *    call that is confirmed late may have ended; its confirmation then waits for another one.
 * 5. Slots go to the waiting tenants in turns, and within a tenant to the caller that asked first.
 */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { z } from "zod";
import { createScript, DEFAULT_PREFIX, type OnError, reconnectDelay, reportOnce } from "./connection.ts";

/**
 * The Lua scripts for the limits of tools. All times are Redis's own, in milliseconds. The keys:
 *
 * - `life`, hash: facts about Redis itself: `run` (its run id), `since` (its memory reaches back to then),
 *   `beat` (last sign of a process), `quiet` (until then no new holder gets a slot), `lost` (1: because its
 *   memory has a gap)
 * - `holders`, sorted set: calls in progress, by the end of their leases
 * - `log`, sorted set: calls that count against the rate, by the latest time at which they reached the tool
 * - `line`, sorted set: waiting calls, by their turn: `tenant NEWLINE ticket`
 * - `seen`, sorted set: the same, by the time until which they will certainly ask again
 * - `away`, sorted set: calls whose plan was released meanwhile, by the time at which they left the line
 * - `turns`, hash: `now`, the turn of the latest grant; `next TENANT`, the turn after the latest grant of that
 *   tenant; `waits TENANT`, its number of calls in the line; `away TICKET`, the turn of a call that is away;
 *   `asked`, the number of calls so far
 *
 * A new call gets the turn `max(now, next) + waits`: one after the other within a tenant, and beside each
 * other for several tenants. So a call waits for at most one grant of each other tenant for each call of its
 * own tenant that is before it, and a tenant that asks again after each grant does not pass the others. In one
 * turn the call that asked first goes first: a billionth for each earlier call is added to the turn.
 */

/**
 * Functions that the scripts share. `look` finds out whether Redis may have lost data. It returns the time
 * since which its memory is complete, how long no new holder gets a slot, and whether the reason is a gap in
 * its memory:
 *
 * 1. Another run id, or no data of earlier runs of these scripts: everything may be lost. A process that
 *    holds a slot announces it within a lease; until then no slot is granted.
 * 2. No sign of any process for 0.7 of a lease (holders send five in one lease), or the clock jumped: leases
 *    may have ended although their calls continue. The same applies to limits with slots held; nothing is
 *    removed meanwhile.
 *
 * `life` is the first key to expire: without it the others are not trusted.
 */
const COMMON = `
local DAY = 86400000

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function look(life, now, run, lease)
  local known = redis.call('HMGET', life, 'run', 'since', 'beat', 'quiet', 'lost')
  local since, beat, quiet, lost = tonumber(known[2]), tonumber(known[3]), tonumber(known[4]), known[5]
  if known[1] ~= run or not since or not beat or not quiet then
    since, quiet, lost = now, now + lease, '1'
  elseif math.abs(now - beat) > lease * 0.7 then
    if now >= quiet then lost = '0' end
    quiet = now + lease
  end
  since, quiet = math.min(since, now), math.min(quiet, now + lease)
  redis.call('HSET', life, 'run', run, 'since', since, 'beat', now, 'quiet', quiet, 'lost', lost)
  redis.call('PEXPIRE', life, DAY)
  return since, quiet - now, lost == '1'
end

local function pull(key, latest)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. latest, '+inf')) do
    redis.call('ZADD', key, latest, member)
  end
end

local function tenantOf(ticket) return string.match(ticket, '^(.-)\\n') or '' end

local function leaveLine(line, seen, turns, ticket)
  if redis.call('ZREM', line, ticket) == 1 then
    redis.call('HINCRBY', turns, 'waits ' .. tenantOf(ticket), -1)
  end
  redis.call('ZREM', seen, ticket)
end

local function depart(line, seen, away, turns, ticket)
  local turn = redis.call('ZSCORE', line, ticket)
  if turn then
    redis.call('ZADD', away, clock(), ticket)
    redis.call('PEXPIRE', away, DAY)
    redis.call('HSET', turns, 'away ' .. ticket, turn)
  end
  leaveLine(line, seen, turns, ticket)
end
`;

/**
 * Takes a slot and a part of the rate, both or none, or joins the queue. For a caller that has them already,
 * extends them by a lease. KEYS life holders log line seen away turns; ARGV run, lease, member, ticket, slots (0:
 * any number), calls (0: any number), window, stay (longer for a caller further back), reach, caution.
 * Returns {1, 0, 0}, or {0, milliseconds until it is worth asking again (-1: unknown), number of callers
 * before it}.
 */
const ACQUIRE = `${COMMON}
local life, holders, log, line, seen, away, turns = unpack(KEYS)
local run, member, ticket = ARGV[1], ARGV[3], ARGV[4]
local lease, slots, calls = tonumber(ARGV[2]), tonumber(ARGV[5]), tonumber(ARGV[6])
local window, stay, reach, caution = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local now = clock()
local since, quiet, lost = look(life, now, run, lease)

pull(holders, now + lease)
pull(log, now + reach)
if quiet <= 0 then
  redis.call('ZREMRANGEBYSCORE', holders, '-inf', now)
  -- Times are cut to whole milliseconds: a call leaves a millisecond later, so that its window is never short.
  redis.call('ZREMRANGEBYSCORE', log, '-inf', '(' .. now - window)
end
local needsSlot = slots > 0 and not redis.call('ZSCORE', holders, member)
local needsCall = calls > 0 and not redis.call('ZSCORE', log, member)

if needsSlot or needsCall then
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', '(' .. now, 'LIMIT', 0, 100)) do
    depart(line, seen, away, turns, gone)
  end
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', away, '-inf', now - 3600000, 'LIMIT', 0, 100)) do
    redis.call('ZREM', away, gone)
    redis.call('HDEL', turns, 'away ' .. gone)
  end
  local tenant = tenantOf(ticket)
  local turn = redis.call('ZSCORE', line, ticket)
  if not turn then
    local facts = redis.call('HMGET', turns, 'now', 'next ' .. tenant, 'waits ' .. tenant, 'away ' .. ticket)
    turn = facts[4]
    if not turn then
      turn = math.max(tonumber(facts[1]) or 0, tonumber(facts[2]) or 0) + (tonumber(facts[3]) or 0)
        + redis.call('HINCRBY', turns, 'asked', 1) % 1000000000 / 1000000000
    end
    redis.call('ZADD', line, turn, ticket)
    redis.call('HINCRBY', turns, 'waits ' .. tenant, 1)
    redis.call('ZREM', away, ticket)
    redis.call('HDEL', turns, 'away ' .. ticket)
    redis.call('PEXPIRE', turns, DAY)
  end
  redis.call('PEXPIRE', line, DAY)
  redis.call('PEXPIRE', seen, DAY)
  local rank = redis.call('ZRANK', line, ticket)
  redis.call('ZADD', seen, now + stay * (1 + math.min(rank, 250) / 25), ticket)
  local wait = 0
  if needsSlot then
    local held = redis.call('ZCARD', holders)
    if quiet > 0 and (lost or held > 0) then wait = quiet
    elseif rank >= slots - held then wait = -1 end
  end
  if needsCall and wait >= 0 then
    local counted = redis.call('ZCARD', log)
    local over = rank + 1 - (calls - counted)
    -- What was granted before Redis remembers may reach the tool for as long as a call may be on its way.
    local known = since + reach + math.min(window, caution) - now
    if quiet > 0 and not lost and counted > 0 then known = quiet end
    if known > 0 then wait = math.max(wait, known)
    elseif over > 0 then
      local leaves = redis.call('ZRANGE', log, math.min(over, counted) - 1, math.min(over, counted) - 1, 'WITHSCORES')
      wait = math.max(wait, (leaves[2] or now) + window - now + 1)
    end
  end
  if wait ~= 0 then return {0, wait, rank} end
  leaveLine(line, seen, turns, ticket)
  local latest = math.max(tonumber(redis.call('HGET', turns, 'now')) or 0, math.floor(tonumber(turn)))
  redis.call('HSET', turns, 'now', latest, 'next ' .. tenant, latest + 1)
end

if slots > 0 then
  redis.call('ZADD', holders, now + lease, member)
  redis.call('PEXPIRE', holders, 2 * DAY)
end
if calls > 0 then
  redis.call('ZADD', log, now + reach, member)
  redis.call('PEXPIRE', log, window + 2 * DAY)
end
return {1, 0, 0}
`;

/**
 * Releases a slot, and the part of the rate when nothing was sent; wakes the calls that may go now. KEYS
 * holders log line; ARGV member, sent (1 or 0), slots, channel.
 */
const RELEASE = `${COMMON}
local holders, log, line = unpack(KEYS)
local member, sent, slots, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local now = clock()
redis.call('ZREM', holders, member)
local reached = redis.call('ZSCORE', log, member)
if reached and sent == '0' then
  redis.call('ZREM', log, member)
elseif reached and tonumber(reached) > now then
  redis.call('ZADD', log, now, member)
end
local free = slots > 0 and slots - redis.call('ZCARD', holders) or 1
if free > 0 then
  for _, ticket in ipairs(redis.call('ZRANGE', line, 0, free - 1)) do
    redis.call('PUBLISH', channel, ticket)
  end
end
return 1
`;

/**
 * Announces that these calls are in progress, whatever Redis remembers of them; without calls, that this
 * process is alive. KEYS life holders; ARGV run, lease, members.
 */
const RENEW = `${COMMON}
local run, lease = ARGV[1], tonumber(ARGV[2])
local now = clock()
look(KEYS[1], now, run, lease)
for index = 3, #ARGV do redis.call('ZADD', KEYS[2], now + lease, ARGV[index]) end
if #ARGV > 2 then redis.call('PEXPIRE', KEYS[2], 2 * DAY) end
return 1
`;

/** Leaves the queue; the turn is remembered. KEYS line seen away turns; ARGV ticket. */
const LEAVE = `${COMMON}
depart(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])
return 1
`;

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

/** Lease of a slot, in milliseconds, where none is set. */
export const DEFAULT_LEASE_MS = 10_000;
const RENEWALS_PER_LEASE = 5;
/** Longest wait for an answer of Redis. */
const ANSWER_MS = 1_000;
/** Interval at which a waiting caller asks; usually it is woken earlier. */
export const POLL_MS = 500;
/** How long the position of a caller that does not ask again is kept in the queue. */
const STAY_MS = 3 * POLL_MS;
/** Pause after Redis gave no answer. */
const AWAY_MS = 1_000;
/** How much later than its confirmation a call is expected to reach the tool, at most. */
export const REACH_MS = 1_000;
/** A call is confirmed without Redis while its grant, or what Redis last said of it, is not older than this. */
const FRESH_MS = 200;
/** Longest pause of a rate limit after Redis, or a new process, does not know the calls. */
export const CAUTION_MS = 60_000;

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
    const bounds = [maxConcurrency, rate.max, rate.perMs, STAY_MS, FRESH_MS + REACH_MS, CAUTION_MS];
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
  function pause(sleeper: Sleeper, { retryAfterMs, rank }: Answer, signal: AbortSignal): Promise<void> {
    const pollMs = POLL_MS * (1 + Math.min(rank, 250) / 25);
    return sleeper.sleep(Math.min(Math.max(1, retryAfterMs), pollMs), signal);
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
        const sleeper = sleepers.begin(placeOf(request));
        let isInLine = false;
        try {
          while (performance.now() - confirmedAt > FRESH_MS) {
            if (isReleased || request.signal.aborted) {
              if (isInLine) leaveLine(request);
              return false;
            }
            const at = performance.now();
            const answer = await ask(request, member);
            isInLine = !answer.isGranted;
            if (answer.isGranted) confirmedAt = at;
            else await pause(sleeper, answer, request.signal);
          }
        } finally {
          sleeper.end();
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

  async function wait(
    request: SlotRequest,
    { member, first, sleeper }: { member: string; first: Answer; sleeper: Sleeper },
  ): Promise<Slot | null> {
    const { signal } = request;
    for (let answer = first; ; ) {
      await pause(sleeper, answer, signal);
      if (signal.aborted) break;
      const askedAt = performance.now();
      answer = await ask(request, member);
      if (!answer.isGranted) continue;
      sleeper.end();
      return createSlot(request, member, askedAt);
    }
    sleeper.end();
    leaveLine(request);
    // Redis may have granted a slot whose answer was lost.
    sendRelease(request, member, false);
    return null;
  }

  function leaveLine(request: SlotRequest): void {
    if (connection.runId() === undefined) return;
    const { line, seen, away, turns } = limitKeys(prefix, request.limit);
    send(leaveScript(client, [line, seen, away, turns], [placeOf(request)]));
  }

  return {
    async acquire(request) {
      const member = randomUUID();
      const askedAt = performance.now();
      // Before it asks: wakes come over another connection, so one may come before the answer.
      const sleeper = sleepers.begin(placeOf(request));
      const answer = await ask(request, member);
      if (!answer.isGranted) {
        const slot = wait(request, { member, first: answer, sleeper });
        return { type: "waiting", retryAfterMs: answer.retryAfterMs, slot };
      }
      sleeper.end();
      return { type: "granted", slot: createSlot(request, member, askedAt) };
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
  /** Registers a caller under its ticket: from now on a wake is remembered. */
  begin(ticket: string): Sleeper;
  /** Wakes a ticket. A ticket without a caller here belongs to another process. */
  wake(ticket: string): void;
}

/** A caller that waits. */
interface Sleeper {
  /**
   * Resolves after `ms`, when the ticket is woken or was woken since the last sleep, or when the signal is
   * aborted.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** It waits no more. Another caller that has its ticket meanwhile stays registered. */
  end(): void;
}

/** Starts without waiting callers. */
function createSleepers(): Sleepers {
  const wakeOf = new Map<string, () => void>();
  return {
    begin(ticket) {
      let isCalled = false;
      let rouse: (() => void) | undefined;
      const wake = (): void => {
        if (rouse) rouse();
        else isCalled = true;
      };
      wakeOf.set(ticket, wake);
      return {
        async sleep(ms, signal) {
          if (signal.aborted || isCalled) {
            isCalled = false;
            return;
          }
          await new Promise<void>((resolve) => {
            rouse = () => {
              clearTimeout(timer);
              signal.removeEventListener("abort", wake);
              rouse = undefined;
              resolve();
            };
            const timer = setTimeout(wake, ms);
            signal.addEventListener("abort", wake, { once: true });
          });
        },
        end() {
          if (wakeOf.get(ticket) === wake) wakeOf.delete(ticket);
        },
      };
    },
    wake: (ticket) => wakeOf.get(ticket)?.(),
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

/** A limit over all calls of a tool, from all executors. It has at least one of the two bounds. */
export interface ToolLimit {
  /**
   * Name of the limit, such as "server/tool". Tenants with their own limits have their own names. At most 600
   * characters.
   */
  name: string;
  /** Maximum number of calls in progress. */
  maxConcurrency?: number | undefined;
  /** Maximum number of calls that may reach the tool in any span of `perMs` milliseconds. */
  rate?: { max: number; perMs: number } | undefined;
}

/** The Redis keys of one limit. */
interface LimitKeys {
  holders: string;
  log: string;
  line: string;
  seen: string;
  away: string;
  turns: string;
}

/** The braces keep all keys on one node of a cluster. */
function limitKeys(prefix: string, limit: Pick<ToolLimit, "name">): LimitKeys {
  const key = (part: string) => `{${prefix}:limits}:${part}:${limit.name}`;
  return {
    holders: key("holders"),
    log: key("log"),
    line: key("line"),
    seen: key("seen"),
    away: key("away"),
    turns: key("turns"),
  };
}

/** The Redis key for facts about Redis itself. */
function lifeKey(prefix: string): string {
  return `{${prefix}:limits}:life`;
}

/** The channel on which tickets are woken. */
function wakeChannel(prefix: string): string {
  return `{${prefix}:limits}:wake`;
}

/**
 * Result of the script: granted or not; milliseconds until it is worth asking again, -1 when unknown; number
 * of callers before it.
 */
const AcquireAnswerSchema = z.tuple([z.literal([0, 1]), z.number().int(), z.number().int()]);
