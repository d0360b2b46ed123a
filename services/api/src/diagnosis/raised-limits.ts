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
 * The limits of a request that reached one of them, raised as far as the service allows, and the reached one
 * above what the next model call needs. Empty when the service allows no more than the request had, or less
 * than that call needs. Pure.
 * @param need - what the request needs in all, as far as its error says it
 */
export function raisedLimits(
  limits: ModelLimits | undefined,
  ofService: ModelLimits | undefined,
  need: SetLimits = {},
): SetLimits {
  const isOutOfReach = LIMITS.some((limit) => (need[limit] ?? 0) > (ofService?.[limit] ?? Infinity));
  if (isOutOfReach) return {};
  return Object.fromEntries(
    LIMITS.flatMap((limit) => {
      const had = limits?.[limit] ?? null;
      if (had === null) return [];
      const wanted = Math.max(LEAST[limit], FACTOR * had, 2 * (need[limit] ?? 0));
      const raised = Math.min(wanted, ofService?.[limit] ?? Infinity);
      return raised > had ? [[limit, raised]] : [];
    }),
  );
}

/** As the message of BUDGET_EXCEEDED says it (packages/models). */
const NEED =
  /^The limit (\w+) of this request is .{1,40}: \$?([\d.]+)(?: tokens)? used so far, and .{1,300} may take \$?([\d.]+)/;

/** What the error of a request says that it needs of the reached limit: used so far, and the next call. Pure. */
export function neededLimits(message: string): SetLimits {
  const [, name, used, next] = NEED.exec(message) ?? [];
  const limit = LIMITS.find((one) => one === name);
  return limit === undefined ? {} : { [limit]: Number(used) + Number(next) };
}

/** The CLI arguments for these limits. */
export function limitArguments(limits: SetLimits): string[] {
  return LIMITS.flatMap((limit) => (limits[limit] === undefined ? [] : [OPTIONS[limit], `${limits[limit]}`]));
}
