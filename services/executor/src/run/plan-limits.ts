import { setImmediate } from "node:timers/promises";
import type { Call, Outcome } from "@planwright/engine";
import {
  knownContract,
  type Policy,
  qualifiedName,
  type ToolContract,
  type ToolDescriptor,
} from "@planwright/plan";
import type { Slot, ToolLimit, ToolLimits } from "@planwright/queue";
import type { PlanTools } from "./plan-tools.ts";

/** A call without a slot asks again after this time, in milliseconds, unless it is woken earlier. */
const ASK_AGAIN_MS = 5_000;
/** A plan that has waited this long for slots and has nothing else to do is released, in milliseconds. */
const HOLD_WHILE_WAITING_MS = 4_500;
/** How long it is released for, in milliseconds: this time plus a random part of the spread. */
const RELEASE_FOR_MS = 5_500;
const RELEASE_SPREAD_MS = 2_500;

/**
 * The limit of a tool beyond one plan; null when there is none. With scope `global` or `tenant`, the bound of
 * the tool applies to all plans (a sequential tool or a barrier has the bound one). A rate always applies to
 * all plans: those of one tenant with scope `tenant`, otherwise those of all tenants.
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

/** A call has a slot, or asks again later. */
export type Entry = { type: "granted"; slot: Slot } | Extract<Outcome, { type: "deferred" }>;

/** The slots that the calls of one plan need under limits beyond the plan. */
export interface PlanLimits {
  /**
   * The slot that a deferred call was cleared for, when the call is made again in the same turn: its maker
   * releases it. It goes to another call otherwise.
   */
  takeCleared(call: Call): Slot | undefined;
  /** Null, without waiting, for a call that has no such limit. */
  enter(call: Call): Promise<Entry> | null;
  /**
   * When a plan that only waits for limits is due again: Unix milliseconds by the given clock. Undefined
   * while the plan must not be released.
   */
  releaseUntil(): number | undefined;
  /** Ends all waiting; slots that no call uses are released. */
  end(): void;
}

/** Dependencies of {@link createPlanLimits}. */
interface PlanLimitsParts {
  limits: ToolLimits;
  planId: string;
  tenant: string;
  unannotated: Policy["unannotated"];
  planTools: Pick<PlanTools, "find">;
  /** Unix milliseconds. */
  now: () => number;
  /** Uniform in [0, 1). */
  random: () => number;
  /**
   * Called when a deferred call has a slot: either the call enters again at once, or the slot goes to another
   * call.
   */
  onCleared: (call: Call) => void;
}

/** Creates the limits of one plan; no call waits yet. */
export function createPlanLimits(parts: PlanLimitsParts): PlanLimits {
  const { limits, planId, planTools, now, random, onCleared } = parts;
  const ending = new AbortController();
  const known = new Map<string, ToolLimit | null>();
  /** When each call began to wait, by ticket. */
  const waiting = new Map<string, number>();
  /** Slots of calls whose clearance is being reported to the engine. */
  const cleared = new Map<string, Slot>();

  function limitOf(tool: string): ToolLimit | null {
    const found = known.get(tool);
    if (found !== undefined) return found;
    const descriptor = planTools.find(tool);
    const limit = descriptor ? sharedLimitOf(descriptor, parts) : null;
    known.set(tool, limit);
    return limit;
  }

  /** The tool that is really called: a verification calls the lookup tool. */
  function toolOf({ tool, verify }: Call): string {
    const descriptor = verify ? planTools.find(tool) : undefined;
    const lookup = descriptor && knownContract(descriptor).contract.lookup?.tool;
    return lookup === undefined ? tool : (planTools.find(lookup, descriptor)?.name ?? lookup);
  }

  async function ask(call: Call, limit: ToolLimit, ticket: string): Promise<Entry> {
    const acquired = await limits.acquire({ limit, tenant: parts.tenant, ticket, signal: ending.signal });
    if (acquired.type === "granted") return acquired;
    waiting.set(ticket, now());
    void acquired.slot.then(async (slot) => {
      // The engine learns first that the call waits: a slot that is free at once would find no waiting call.
      await setImmediate();
      waiting.delete(ticket);
      if (!slot) return;
      cleared.set(ticket, slot);
      onCleared(call);
      if (cleared.delete(ticket)) slot.release();
    });
    return deferred();
  }

  function deferred(): Entry {
    return { type: "deferred", untilAt: now() + ASK_AGAIN_MS, waitReason: "limit" };
  }

  const ticketOf = ({ key, verify }: Call): string =>
    verify ? `${planId}/${key}/lookup` : `${planId}/${key}`;

  return {
    takeCleared(call) {
      const ticket = ticketOf(call);
      const slot = cleared.get(ticket);
      cleared.delete(ticket);
      return slot;
    },
    enter(call) {
      const limit = limitOf(toolOf(call));
      if (!limit) return null;
      const ticket = ticketOf(call);
      return waiting.has(ticket) ? Promise.resolve(deferred()) : ask(call, limit, ticket);
    },
    releaseUntil() {
      const oldest = Math.min(...waiting.values());
      return now() - oldest < HOLD_WHILE_WAITING_MS || waiting.size === 0
        ? undefined
        : now() + RELEASE_FOR_MS + random() * RELEASE_SPREAD_MS;
    },
    end() {
      ending.abort();
      for (const slot of cleared.values()) slot.release();
      cleared.clear();
    },
  };
}
