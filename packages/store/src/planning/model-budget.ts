/** What the model calls of one request may take and have taken. Pure: the journal keeps it. */
import { type FoldedPlanning, sumOf } from "@planwright/engine";
import type { ModelLimits, ModelSpending, ModelUse } from "../records/model-call-document.ts";

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

/** What the journal tells of a request's model calls. */
export function modelUseOf({ spent, calls }: Pick<FoldedPlanning, "spent" | "calls">): ModelUse {
  return { spent, reserved: sumOf(calls.values()) };
}

/**
 * The first limit that another call could break, taking what was reserved as spent; null when there is none.
 */
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

const LIMITS = [
  { limit: "maxModelCalls", unit: "modelCalls" },
  { limit: "maxTokens", unit: "tokens" },
  { limit: "maxCostUsd", unit: "costUsd" },
] as const;

/** To a billionth: what binary fractions leave behind is no money. */
const round = (value: number) => Math.round(value * 1e9) / 1e9;
