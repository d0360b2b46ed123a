import type { ModelLimits } from "@planwright/store";

/** Factor by which a limit that was too low is raised. */
const FACTOR = 4;

/** Smallest suggested limits: enough to plan a sentence with a few steps, and to repair the plan. */
const LEAST = { maxModelCalls: 4, maxTokens: 20_000, maxCostUsd: 0.1 } as const;

/** The CLI option for each limit. */
const OPTIONS = {
  maxModelCalls: "--max-model-calls",
  maxTokens: "--max-tokens",
  maxCostUsd: "--max-cost-usd",
} as const satisfies Record<keyof ModelLimits, string>;

const LIMITS = Object.keys(OPTIONS) as (keyof ModelLimits)[];

/** Limits of model calls, without those that are not set. */
export type SetLimits = { readonly [limit in keyof ModelLimits]?: number };

/**
 * The limits of a request that reached one of them, raised as far as the service allows. Empty when the
 * service allows no more than the request had. The reached limit is not recorded, so all are raised. Pure.
 */
export function raisedLimits(limits: ModelLimits | undefined, ofService: ModelLimits | undefined): SetLimits {
  return Object.fromEntries(
    LIMITS.flatMap((limit) => {
      const had = limits?.[limit] ?? null;
      if (had === null) return [];
      const raised = Math.min(Math.max(LEAST[limit], FACTOR * had), ofService?.[limit] ?? Infinity);
      return raised > had ? [[limit, raised]] : [];
    }),
  );
}

/** The CLI arguments for these limits. */
export function limitArguments(limits: SetLimits): string[] {
  return LIMITS.flatMap((limit) => (limits[limit] === undefined ? [] : [OPTIONS[limit], `${limits[limit]}`]));
}
