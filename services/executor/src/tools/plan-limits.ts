import type { Call, Outcome } from "@planwright/engine";
import {
  knownContract,
  type Policy,
  qualifiedName,
  type ToolContract,
  type ToolDescriptor,
} from "@planwright/plan";
import type { Place, ToolLimit, ToolLimits } from "@planwright/queue";
import type { PlanTools } from "./plan-tools.ts";

/** A call that finds no place comes back after this, unless it is called before; in milliseconds. */
const COME_BACK_MS = 5_000;
/** A plan that has waited so long for its places, and does nothing else, is put aside, in milliseconds. */
const PATIENCE_MS = 4_500;
/** For how long a plan is put aside, in milliseconds: from 5.5 s on, up to so much more. */
const ASIDE_MS = 5_500;
const ASIDE_SPREAD_MS = 2_500;

/**
 * The limit of a tool that holds beyond one plan: null when there is none. Scope `global` or `tenant` makes the tool's bound one
 * for all plans (a sequential tool or a barrier is bounded by one). A rate always holds for all plans: of a tenant with
 * scope `tenant`, otherwise of everybody.
 */
export function sharedLimitOf(
  descriptor: ToolDescriptor,
  { tenant, unannotated }: { tenant: string; unannotated: Policy["unannotated"] },
): ToolLimit | null {
  const { contract } = knownContract(descriptor, unannotated);
  const maxConcurrency = contract.scope === "plan" ? undefined : concurrencyOf(contract);
  const rate = contract.rateLimit;
  if (maxConcurrency === undefined && !rate) return null;
  const tool = qualifiedName(descriptor);
  return { name: contract.scope === "tenant" ? `${tool} of ${tenant}` : tool, maxConcurrency, rate };
}

function concurrencyOf(contract: ToolContract): number | undefined {
  return contract.mode === "sequential-only" || contract.barrier ? 1 : contract.maxConcurrency;
}

/** A call may go, or comes back later. */
export type Entry = { type: "granted"; place: Place } | Extract<Outcome, { type: "deferred" }>;

/** The places that the calls of one plan need beyond the plan. */
export interface PlanLimits {
  /** Null at once for a call that no such limit is about. */
  enter(call: Call): Promise<Entry> | null;
  /** When a plan that waits for limits alone is to come back: Unix milliseconds by the clock given. Undefined while it stays. */
  asideUntil(): number | undefined;
  /** Ends all waiting; places that no call took up are given back. */
  end(): void;
}

/** What the limits of one plan are about. */
export interface PlanLimitsParts {
  limits: ToolLimits;
  planId: string;
  tenant: string;
  unannotated: Policy["unannotated"];
  planTools: Pick<PlanTools, "find">;
  /** Unix milliseconds. */
  now: () => number;
  /** Uniform in [0, 1). */
  random: () => number;
  /** Told that a call which was deferred may go now; it enters again at once, or its place goes to another call. */
  onCleared: (call: Call) => void;
}

/** Nothing waits yet. */
export function createPlanLimits(parts: PlanLimitsParts): PlanLimits {
  const { limits, planId, planTools, now, random, onCleared } = parts;
  const ending = new AbortController();
  const known = new Map<string, ToolLimit | null>();
  /** Since when each call waits, by ticket. */
  const waiting = new Map<string, number>();
  /** Places for calls that the engine is being told of. */
  const cleared = new Map<string, Place>();

  function limitOf(tool: string): ToolLimit | null {
    const found = known.get(tool);
    if (found !== undefined) return found;
    const descriptor = planTools.find(tool);
    const limit = descriptor ? sharedLimitOf(descriptor, parts) : null;
    known.set(tool, limit);
    return limit;
  }

  /** The tool that is really called: a verification asks the lookup tool. */
  function toolOf({ tool, verify }: Call): string {
    const descriptor = verify ? planTools.find(tool) : undefined;
    const lookup = descriptor && knownContract(descriptor).contract.lookup?.tool;
    return lookup === undefined ? tool : (planTools.find(lookup, descriptor)?.name ?? lookup);
  }

  async function ask(call: Call, limit: ToolLimit, ticket: string): Promise<Entry> {
    const acquired = await limits.acquire({ limit, ticket, signal: ending.signal });
    if (acquired.type === "granted") return acquired;
    waiting.set(ticket, now());
    void acquired.place.then((place) => {
      waiting.delete(ticket);
      if (!place) return;
      cleared.set(ticket, place);
      onCleared(call);
      if (cleared.delete(ticket)) place.release();
    });
    return deferred();
  }

  function deferred(): Entry {
    return { type: "deferred", untilAt: now() + COME_BACK_MS, waitReason: "limit" };
  }

  return {
    enter(call) {
      const limit = limitOf(toolOf(call));
      if (!limit) return null;
      const ticket = call.verify ? `${planId}/${call.key}/lookup` : `${planId}/${call.key}`;
      const place = cleared.get(ticket);
      cleared.delete(ticket);
      if (place) return Promise.resolve({ type: "granted", place });
      return waiting.has(ticket) ? Promise.resolve(deferred()) : ask(call, limit, ticket);
    },
    asideUntil() {
      const oldest = Math.min(...waiting.values());
      return now() - oldest < PATIENCE_MS || waiting.size === 0
        ? undefined
        : now() + ASIDE_MS + random() * ASIDE_SPREAD_MS;
    },
    end() {
      ending.abort();
      for (const place of cleared.values()) place.release();
      cleared.clear();
    },
  };
}
