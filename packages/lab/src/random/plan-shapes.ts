import type { ForEachStep, JsonObject } from "@planwright/plan";
import type { Random } from "./random.ts";

/** A step of a plan: its id, and the earlier steps that it depends on. */
export interface GraphStep {
  id: string;
  dependsOn: readonly string[];
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);

/** Steps one after the other. */
export const chain = (count: number): GraphStep[] =>
  names(count).map((id, index, all) => ({ id, dependsOn: all.slice(Math.max(0, index - 1), index) }));

/** Steps without dependencies. */
export const wide = (count: number): GraphStep[] => names(count).map((id) => ({ id, dependsOn: [] }));

/** Steps without dependencies, and a last step that depends on all of them. */
export const fanIn = (count: number): GraphStep[] =>
  names(count).map((id, index, all) => ({ id, dependsOn: index === count - 1 ? all.slice(0, -1) : [] }));

/** A first step, steps that depend on it, and a last step that depends on those; at least three steps. */
export function diamond(count: number): GraphStep[] {
  const [first = "", ...others] = names(count);
  const last = others.at(-1);
  return [
    { id: first, dependsOn: [] },
    ...others.map((id) => ({ id, dependsOn: id === last ? others.slice(0, -1) : [first] })),
  ];
}

/** A step depends only on the last `REACH` steps before it. */
const REACH = 8;
/** Share of the later steps without dependencies. */
const ROOT_RATE = 0.12;

/**
 * Steps that depend on up to three of the eight steps before them: a deep graph in which many steps can still
 * run at once.
 */
export function scattered(random: Random, count: number): GraphStep[] {
  return names(count).map((id, index, all) => {
    const before = random.shuffled(all.slice(Math.max(0, index - REACH), index));
    const least = random.chance(ROOT_RATE) || index < 2 ? 0 : 1;
    return { id, dependsOn: before.slice(0, random.whole(least, 3)) };
  });
}

/** How failed items affect their list. */
interface ListOptions {
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
