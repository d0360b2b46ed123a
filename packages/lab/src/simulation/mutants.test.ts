import { expect, test } from "vitest";
import { hunt, MAX_SEEDS } from "./hunt.ts";
import { MUTANTS } from "./mutants/mutants.ts";

test.each(MUTANTS)(
  `the checker finds $name within ${MAX_SEEDS} seeds, by an invariant that it breaks`,
  async (mutant) => {
    const { result } = await hunt(mutant);
    expect(mutant.violates).toContain(result?.violation?.invariant);
  },
);
