import type { ForEachStep, JsonObject } from "@planwright/plan";
import type { Random } from "../random/random.ts";

/** How failed items affect their list. */
export interface ListOptions {
  /** Absent: by the contract of the tool. */
  errors?: "collect" | "stop";
  /** Items that must succeed: a number, or a share below 1. Absent: 1. */
  minSuccess?: number;
}

/** Draws the options of a list; each option is absent half of the time. */
export function drawListOptions(random: Random): ListOptions {
  return {
    ...(random.chance(0.5) && { errors: random.pick(["collect", "collect", "stop"] as const) }),
    ...(random.chance(0.5) && { minSuccess: random.pick([0, 1, 2, 3, 0.5, 0.9]) }),
  };
}

/** The condition of a list that skips some of its items, by their positions; undefined for most lists. */
export function drawItemCondition(random: Random, items: number): JsonObject | undefined {
  if (!random.chance(0.35)) return undefined;
  const skipped = Array.from({ length: items }, (_, item) => item).filter(() => random.chance(0.4));
  return { not: { in: ["<<index>>", skipped] } };
}

/** The items that {@link drawItemCondition} skips, read from the plan without the engine's evaluation. */
export function skippedItems({ forEach: { when } }: Pick<ForEachStep, "forEach">): ReadonlySet<number> {
  const inner = when && "not" in when ? when.not : undefined;
  const list = inner && "in" in inner ? inner.in[1] : undefined;
  return new Set(Array.isArray(list) ? list.filter((item) => typeof item === "number") : []);
}
