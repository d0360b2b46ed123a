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
export const ACQUIRE = `${COMMON}
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
  redis.call('ZREMRANGEBYSCORE', log, '-inf', now - window)
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
export const RELEASE = `${COMMON}
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
export const RENEW = `${COMMON}
local run, lease = ARGV[1], tonumber(ARGV[2])
local now = clock()
look(KEYS[1], now, run, lease)
for index = 3, #ARGV do redis.call('ZADD', KEYS[2], now + lease, ARGV[index]) end
if #ARGV > 2 then redis.call('PEXPIRE', KEYS[2], 2 * DAY) end
return 1
`;

/** Leaves the queue; the turn is remembered. KEYS line seen away turns; ARGV ticket. */
export const LEAVE = `${COMMON}
depart(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])
return 1
`;
