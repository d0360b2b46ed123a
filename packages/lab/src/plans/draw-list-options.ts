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
