/**
 * Limits of tools in the memory of one process, by the rules of `tool-limits.ts`:
 *
 * 1. The slot of a call that was abandoned is free a lease later.
 * 2. A process that starts does not know the calls that an earlier one made: for a lease no caller gets a slot,
 *    and calls under a rate wait for one window, at most 60 s.
 * 3. A call counts against the rate from its grant until `perMs` after the latest time at which it can have
 *    reached the tool: its answer, or a second after its confirmation if it has no answer by then.
 * 4. Slots go to the waiting tenants in turns, and within a tenant to the caller that asked first, also when it
 *    was away for less than an hour.
 */
import {
  type Acquired,
  CAUTION_MS,
  DEFAULT_LEASE_MS,
  POLL_MS,
  REACH_MS,
  type Slot,
  type SlotRequest,
  type ToolLimit,
  type ToolLimits,
} from "./tool-limits.ts";

/** How long the turn of a caller that left is remembered, in milliseconds. */
const AWAY_MS = 3_600_000;

/** A call that waits, or was granted. */
interface Call {
  request: SlotRequest;
  tenant: string;
  /** Its place in the line: the lowest goes first. */
  turn: number;
  onGrant: (slot: Slot) => void;
  slot?: Slot;
}

/** The limits of one process without Redis. It keeps nothing outside of its memory. */
export function createLocalToolLimits({
  leaseMs = DEFAULT_LEASE_MS,
}: {
  /** Lease of an abandoned slot, in milliseconds. Default 10,000. */
  leaseMs?: number | undefined;
} = {}): ToolLimits {
  const startedAt = performance.now();
  const byName = new Map<string, ReturnType<typeof createLine>>();

  function lineOf({ name }: ToolLimit): ReturnType<typeof createLine> {
    const line = byName.get(name) ?? createLine({ startedAt, leaseMs });
    byName.set(name, line);
    return line;
  }

  return {
    async acquire(request): Promise<Acquired> {
      const { signal } = request;
      const line = lineOf(request.limit);
      let resolve: (slot: Slot | null) => void = () => undefined;
      const promise = new Promise<Slot | null>((settle) => {
        resolve = settle;
      });
      const call = line.join(request, resolve);
      const retryAfterMs = line.grant();
      if (call.slot) return { type: "granted", slot: call.slot };
      const leave = (): void => {
        line.leave(call);
        resolve(null);
      };
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      void promise.then(() => signal.removeEventListener("abort", leave));
      return { type: "waiting", retryAfterMs: retryAfterMs ?? POLL_MS, slot: promise };
    },
    async close() {
      for (const line of byName.values()) line.end();
    },
  };
}

/** The calls of one limit. */
function createLine({ startedAt, leaseMs }: { startedAt: number; leaseMs: number }) {
  let waiting: Call[] = [];
  /** Calls with a slot, by the end of the lease of an abandoned one. */
  const held = new Map<Call, number>();
  /**
   * Calls that count against the rate, by the latest time at which they reached the tool: infinite before their
   * confirmation, which may come long after the grant.
   */
  const sent = new Map<Call, number>();
  /** The turns of callers that left, by ticket. */
  const away = new Map<string, { turn: number; at: number }>();
  /** The turn after the latest grant of each tenant. */
  const next = new Map<string, number>();
  let now = 0;
  let asked = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Milliseconds until the first caller may go; undefined when only another call can tell. */
  function waitOf({ maxConcurrency, rate }: ToolLimit): number | undefined {
    const time = performance.now();
    for (const [call, endsAt] of held) if (endsAt <= time) held.delete(call);
    let waitMs = 0;
    if (maxConcurrency !== undefined) {
      waitMs = startedAt + leaseMs - time;
      if (held.size >= maxConcurrency) {
        const endsAt = Math.min(...held.values());
        if (endsAt === Number.POSITIVE_INFINITY) return undefined;
        waitMs = Math.max(waitMs, endsAt - time);
      }
    }
    if (rate) {
      for (const [call, at] of sent) if (at + rate.perMs <= time) sent.delete(call);
      waitMs = Math.max(waitMs, startedAt + REACH_MS + Math.min(rate.perMs, CAUTION_MS) - time);
      const over = sent.size - rate.max;
      const leavesAt = over < 0 ? undefined : [...sent.values()].toSorted((a, b) => a - b)[over];
      if (leavesAt === Number.POSITIVE_INFINITY) return undefined;
      if (leavesAt !== undefined) waitMs = Math.max(waitMs, leavesAt + rate.perMs - time);
    }
    return Math.max(0, Math.ceil(waitMs));
  }

  /** Gives slots to the callers that may go now. Returns when it is worth asking again, if that is known. */
  function grant(): number | undefined {
    clearTimeout(timer);
    for (;;) {
      const [first] = waiting;
      if (!first) return undefined;
      const waitMs = waitOf(first.request.limit);
      if (waitMs !== 0) {
        if (waitMs !== undefined) timer = setTimeout(grant, waitMs);
        return waitMs;
      }
      waiting.shift();
      now = Math.max(now, Math.floor(first.turn));
      next.set(first.tenant, now + 1);
      if (waiting.length === 0) for (const [tenant, turn] of next) if (turn <= now) next.delete(tenant);
      first.slot = createSlot(first);
      first.onGrant(first.slot);
    }
  }

  function createSlot(call: Call): Slot {
    const { maxConcurrency, rate } = call.request.limit;
    if (maxConcurrency !== undefined) held.set(call, Number.POSITIVE_INFINITY);
    if (rate) sent.set(call, Number.POSITIVE_INFINITY);
    let isSent = false;
    let isReleased = false;
    return {
      async confirm() {
        isSent = true;
        if (rate) sent.set(call, performance.now() + REACH_MS);
        grant();
        return true;
      },
      release() {
        if (isReleased) return;
        isReleased = true;
        held.delete(call);
        const reachedAt = sent.get(call);
        if (!isSent) sent.delete(call);
        else if (reachedAt !== undefined) sent.set(call, Math.min(reachedAt, performance.now()));
        grant();
      },
      abandon() {
        if (isReleased) return;
        isReleased = true;
        if (held.has(call)) held.set(call, performance.now() + leaseMs);
        if (!isSent) sent.delete(call);
        grant();
      },
    };
  }

  function nameOf({ tenant = "", ticket }: SlotRequest): string {
    return `${tenant}\n${ticket}`;
  }

  /** The turn of a new caller: one after the other within a tenant, and beside each other for several tenants. */
  function turnOf(request: SlotRequest, tenant: string): number {
    const remembered = away.get(nameOf(request));
    away.delete(nameOf(request));
    if (remembered) return remembered.turn;
    const ahead = waiting.filter((call) => call.tenant === tenant).length;
    asked += 1;
    return Math.max(now, next.get(tenant) ?? 0) + ahead + asked / 1_000_000_000;
  }

  return {
    grant,
    join(request: SlotRequest, onGrant: Call["onGrant"]): Call {
      const { tenant = "" } = request;
      const call: Call = { request, tenant, turn: turnOf(request, tenant), onGrant };
      const index = waiting.findLastIndex(({ turn }) => turn <= call.turn) + 1;
      waiting.splice(index, 0, call);
      return call;
    },
    leave(call: Call): void {
      if (!waiting.includes(call)) return;
      waiting = waiting.filter((other) => other !== call);
      const at = performance.now();
      for (const [name, left] of away) {
        if (left.at + AWAY_MS > at) break;
        away.delete(name);
      }
      away.set(nameOf(call.request), { turn: call.turn, at });
      grant();
    },
    end(): void {
      clearTimeout(timer);
    },
  };
}
