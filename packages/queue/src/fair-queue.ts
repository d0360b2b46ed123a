/**
 * A queue of hints that is fair to tenants, in Redis or in the memory of one process.
 *
 * 1. Tenants take turns by weight: start-time fair queuing. Each has a tag; the tenant with the lowest one is
 *    next, and one turn moves its tag on by 1 / weight. A tenant that comes, or comes back, starts at the tag
 *    of the turn in progress: it gains nothing by having been away, and waits for at most one turn of each
 *    other tenant (two of one that was just passed over), however long their lines are.
 * 2. The hints of a tenant are in one line, by priority and age (`placeInLine`).
 * 3. A taker that may not work for some tenants passes over them. They keep their place: a tenant that was passed
 *    over takes the turn that it missed, but never more than one, however often it was passed over.
 * 4. An id is in a line once. Each hint is given to one taker.
 * 5. Nothing here is needed: work whose hint is lost is found by the sweeps.
 *
 * A push or a take costs O(log n) of the line and of the waiting tenants. The jobs of BullMQ have one order for
 * all tenants (its groups are not open source), and a job of a tenant that may not run here cannot be passed
 * over. So a job only says that there is work, and what it does is taken from here.
 * @see P. Goyal, H. M. Vin, H. Cheng, "Start-time fair queueing", ACM SIGCOMM 1996
 */

import type { Priority } from "@planwright/plan";
import type { Redis } from "ioredis";
import { z } from "zod";
import { createScript } from "./connection.ts";

/** A hint in its line: the lowest place comes first. */
export interface QueuedHint {
  id: string;
  tenant: string;
  place: number;
}

/** The hints of one kind of work. */
export interface FairQueue {
  /** Adds a hint, also one that was taken, unless its id is in the line. Returns whether it was added. */
  push(hint: QueuedHint): Promise<boolean>;
  /** Takes the next hint; null when there is none. @param full - tenants to pass over */
  take(full: readonly string[]): Promise<QueuedHint | null>;
  /** Sets the weights of tenants: how many turns they get for one of the others. All others have 1. */
  setWeights(weights: ReadonlyMap<string, number>): Promise<void>;
  /** Number of hints. O(waiting tenants). */
  count(): Promise<number>;
}

/** Number of tenants that a script reads at once. */
const PAGE = 100;

const push = createScript(`
local turns, now = unpack(KEYS)
local line, tenant, id, place = ARGV[1] .. ARGV[2], ARGV[2], ARGV[3], ARGV[4]
if redis.call('ZADD', line, 'NX', place, id) == 0 then return 0 end
if not redis.call('ZSCORE', turns, tenant) then
  redis.call('ZADD', turns, redis.call('GET', now) or '0', tenant)
end
return 1
`);

/**
 * Returns nil or {id, tenant, place}. A tenant without hints keeps its tag as long as it is above
 * that of the turn in progress: otherwise it would gain a turn by sending its hints one by one.
 */
const take = createScript(`
local turns, weights, now = unpack(KEYS)
local lines, page = ARGV[1], tonumber(ARGV[2])
local full = {}
for index = 3, #ARGV do full[ARGV[index]] = true end
local current = tonumber(redis.call('GET', now) or '0')
local passed = 0
while true do
  local found = redis.call('ZRANGE', turns, passed, passed + page - 1, 'WITHSCORES')
  if #found == 0 then return nil end
  for index = 1, #found, 2 do
    local tenant, tag = found[index], tonumber(found[index + 1])
    local line = lines .. tenant
    if full[tenant] then
      passed = passed + 1
    else
      local first = redis.call('ZPOPMIN', line)
      if #first > 0 then
        current = math.max(current, tag)
        local weight = tonumber(redis.call('HGET', weights, tenant) or '1')
        redis.call('SET', now, string.format('%.17g', current))
        redis.call('ZADD', turns, string.format('%.17g', math.max(tag + 1 / weight, current)), tenant)
        return {first[1], tenant, first[2]}
      elseif tag <= current then
        redis.call('ZREM', turns, tenant)
      else
        passed = passed + 1
      end
    end
  end
end
`);

const setWeights = createScript(`
redis.call('DEL', KEYS[1])
for index = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
return 1
`);

const count = createScript(`
local sum = 0
for _, tenant in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  sum = sum + redis.call('ZCARD', ARGV[1] .. tenant)
end
return sum
`);

const TakeAnswerSchema = z
  .tuple([z.string(), z.string(), z.coerce.number()])
  .transform(([id, tenant, place]): QueuedHint => ({ id, tenant, place }))
  .nullable();

/** The hints under a prefix in Redis, over all processes. The braces keep all keys on one node of a cluster. */
export function createFairQueue(client: Redis, prefix: string, queue: QueueName): FairQueue {
  const key = (part: string): string => `{${prefix}:${queue}}:${part}`;
  const [turns, weights, now, lines] = [key("turns"), key("weights"), key("now"), key("line:")];
  return {
    push: async ({ id, tenant, place }) =>
      (await push(client, [turns, now], [lines, tenant, id, place])) === 1,
    take: async (full) =>
      TakeAnswerSchema.parse(await take(client, [turns, weights, now], [lines, PAGE, ...full])),
    async setWeights(given) {
      await setWeights(client, [weights], [...given].flat());
    },
    count: async () => z.number().parse(await count(client, [turns], [lines])),
  };
}

/** A queue in memory: it is changed at once, before its promises resolve. */
export interface LocalFairQueue extends FairQueue {
  size(): number;
}

/** The hints of one kind of work in the memory of this process, by the same rules. */
export function createLocalFairQueue(): LocalFairQueue {
  const lines = new Map<string, QueuedHint[]>();
  const turns = new Map<string, number>();
  const waiting = new Set<string>();
  const nameOf = ({ tenant, id }: QueuedHint): string => JSON.stringify([tenant, id]);
  let weights: ReadonlyMap<string, number> = new Map();
  let now = 0;

  /** The tenant whose turn it is. Of two with the same tag, the one whose name comes first. */
  function nextTenant(full: readonly string[]): string | undefined {
    let next: string | undefined;
    for (const [tenant, tag] of turns) {
      const isEmpty = !lines.has(tenant);
      if (isEmpty && tag <= now) turns.delete(tenant);
      if (isEmpty || full.includes(tenant)) continue;
      const lowest = next === undefined ? Number.POSITIVE_INFINITY : (turns.get(next) ?? 0);
      if (tag < lowest || (tag === lowest && tenant < (next ?? ""))) next = tenant;
    }
    return next;
  }

  return {
    async push(hint) {
      if (waiting.has(nameOf(hint))) return false;
      waiting.add(nameOf(hint));
      const line = lines.get(hint.tenant) ?? [];
      const index = line.findLastIndex(({ place }) => place <= hint.place) + 1;
      line.splice(index, 0, hint);
      lines.set(hint.tenant, line);
      if (!turns.has(hint.tenant)) turns.set(hint.tenant, now);
      return true;
    },
    async take(full) {
      const tenant = nextTenant(full);
      const line = tenant === undefined ? undefined : lines.get(tenant);
      const hint = line?.shift();
      if (tenant === undefined || !hint) return null;
      waiting.delete(nameOf(hint));
      if (line?.length === 0) lines.delete(tenant);
      const tag = turns.get(tenant) ?? 0;
      now = Math.max(now, tag);
      turns.set(tenant, Math.max(tag + 1 / (weights.get(tenant) ?? 1), now));
      return hint;
    },
    async setWeights(given) {
      weights = new Map(given);
    },
    count: async () => waiting.size,
    size: () => waiting.size,
  };
}

/** The queues: `planning` carries request ids, `execution` carries plan ids. */
export type QueueName = "planning" | "execution";

/** A hint that this work may be done: a request for planners, or a plan for executors. */
export interface Hint {
  _id: string;
  /** The tenant whose turn it takes. */
  tenant: string;
  /** Its place among the work of its tenant. Default: normal. */
  priority?: Priority | undefined;
}
