/** Limits and use of the model calls of one request. Pure: the journal has the amounts. */
import { type FoldedPlanning, sumOf } from "@planwright/engine";
import type { ModelLimits, ModelSpending, ModelUse } from "../records/model-call-document.ts";

/** A limit that the next call might exceed, with the amounts. */
export interface LimitExceeded {
  limit: keyof ModelLimits;
  max: number;
  /** Spent and reserved so far. */
  used: number;
  /** Maximum of the next call. */
  needed: number;
}

/** No calls, tokens or costs. */
export const NO_SPENDING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** The use before the first call. */
export const NO_USE: ModelUse = { spent: NO_SPENDING, reserved: NO_SPENDING };

/** The use by the folded model calls of a request. */
export function modelUseOf({ spent, calls }: Pick<FoldedPlanning, "spent" | "calls">): ModelUse {
  return { spent, reserved: sumOf(calls.values()) };
}

/**
 * The first limit that another call could exceed, if all reserved amounts are spent; null when there is none.
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

/** Rounds to a billionth, to remove errors of binary fractions. */
const round = (value: number) => Math.round(value * 1e9) / 1e9;
