import type { Mutant } from "./mutants/mutant.ts";
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

/** Number of seeds within which every planted fault has to be found: the rarest shows in about one of 750. */
export const MAX_SEEDS = 1_500;

/**
 * Simulates seeds with a planted fault, from its first seed, until the checker finds a violation; `result` is
 * null without one.
 */
export async function hunt(mutant: Mutant): Promise<{ seeds: number; result: SeedResult | null }> {
  for (let seed = mutant.firstSeed ?? 1; seed <= MAX_SEEDS; seed++) {
    const result = await simulateSeed(seed, { mutant });
    if (result.violation) return { seeds: seed, result };
  }
  return { seeds: MAX_SEEDS, result: null };
}
