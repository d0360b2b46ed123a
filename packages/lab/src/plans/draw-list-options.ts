import type { Random } from "../random/random.ts";

/** What failed items mean for their list. */
export interface ListOptions {
  /** Absent: as the contract of the tool says. */
  errors?: "collect" | "stop";
  /** Items that must succeed: a number, or below 1 a share. Absent: 1. */
  minSuccess?: number;
}

/** Draws the options of a list; each of them is left to its default half of the time. */
export function drawListOptions(random: Random): ListOptions {
  return {
    ...(random.chance(0.5) && { errors: random.pick(["collect", "collect", "stop"] as const) }),
    ...(random.chance(0.5) && { minSuccess: random.pick([0, 1, 2, 3, 0.5, 0.9]) }),
  };
}
