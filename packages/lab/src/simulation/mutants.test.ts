import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { hunt, MAX_SEEDS } from "./simulate-seed.ts";

test.each(MUTANTS)(
  `the checker finds $name within ${MAX_SEEDS} seeds, by an invariant that it breaks`,
  async (mutant) => {
    const { result } = await hunt(mutant);
    expect(mutant.violates).toContain(result?.violation?.invariant);
  },
);
