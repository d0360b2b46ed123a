import type { Mutant } from "./mutants/mutant.ts";
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

/** Number of seeds within which every planted fault has to be found: the rarest shows in about one of 600. */
export const MAX_SEEDS = 1_500;

/** Simulates seeds with a planted fault until the checker finds a violation; `result` is null without one. */
export async function hunt(mutant: Mutant): Promise<{ seeds: number; result: SeedResult | null }> {
  for (let seed = 1; seed <= MAX_SEEDS; seed++) {
    const result = await simulateSeed(seed, { mutant });
    if (result.violation) return { seeds: seed, result };
  }
  return { seeds: MAX_SEEDS, result: null };
}
