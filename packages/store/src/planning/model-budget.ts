/** What the model calls of one request may take and have taken. Pure: the store keeps it on the request. */
import type { ModelLimits, ModelSpending, ModelUse } from "../documents.ts";

/** A limit that the next call might break, and by how much. */
export interface LimitExceeded {
  limit: keyof ModelLimits;
  max: number;
  /** Spent and reserved so far. */
  used: number;
  /** What the next call may take. */
  needed: number;
}

/** Nothing of anything. */
export const NO_SPENDING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** Before the first call. */
export const NO_USE: ModelUse = { spent: NO_SPENDING, reserved: NO_SPENDING };

/** The first limit that another call could break, taking what was reserved as spent; null when there is none. */
export function exceededLimit(
  limits: ModelLimits | undefined,
  { spent, reserved }: ModelUse,
  next: ModelSpending,
): LimitExceeded | null {
  for (const { limit, unit } of LIMITS) {
    const max = limits?.[limit] ?? null;
    const used = spent[unit] + reserved[unit];
    const needed = next[unit];
    if (max !== null && round(used + needed) > max) return { limit, max, used: round(used), needed };
  }
  return null;
}

/** Sets aside what a call may take. */
export function reserve({ spent, reserved }: ModelUse, amount: ModelSpending): ModelUse {
  return { spent, reserved: sum(reserved, amount) };
}

/** Gives back what was set aside for a call, and counts what it took. */
export function settle({ spent, reserved }: ModelUse, amount: ModelSpending, took: ModelSpending): ModelUse {
  const { modelCalls, tokens, costUsd } = amount;
  return {
    spent: sum(spent, took),
    reserved: sum(reserved, { modelCalls: -modelCalls, tokens: -tokens, costUsd: -costUsd }),
  };
}

const LIMITS = [
  { limit: "maxModelCalls", unit: "modelCalls" },
  { limit: "maxTokens", unit: "tokens" },
  { limit: "maxCostUsd", unit: "costUsd" },
] as const;

const sum = (one: ModelSpending, other: ModelSpending): ModelSpending => ({
  modelCalls: one.modelCalls + other.modelCalls,
  tokens: one.tokens + other.tokens,
  costUsd: round(one.costUsd + other.costUsd),
});

/** To a billionth: what binary fractions leave behind is no money. */
const round = (value: number) => Math.round(value * 1e9) / 1e9;
