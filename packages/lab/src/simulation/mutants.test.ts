import { testAndProof } from "@planwright/testing";
import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { hunt, MAX_SEEDS } from "./simulate-seed.ts";

/** One for each kind of promise. `npm run proof` plants the others. */
const IN_TEST = [
  "another-key-for-each-attempt",
  "intent-not-awaited",
  "result-acknowledged-before-it-is-durable",
  "declared-dead-continues",
  "answer-before-the-insert",
  "control-acknowledged-and-not-kept",
  "cancel-ignored",
  "barriers-ignored",
  "append-without-a-fence",
  "end-not-appended",
  "every-repeat-accepted",
];

for (const { cases, options } of testAndProof(MUTANTS, ({ name }) => name, IN_TEST))
  test.for(cases)(
    `the checker finds $name within ${MAX_SEEDS} seeds, by an invariant that it breaks`,
    options,
    async (mutant) => {
      const { result } = await hunt(mutant);
      expect(mutant.violates).toContain(result?.violation?.invariant);
    },
  );
