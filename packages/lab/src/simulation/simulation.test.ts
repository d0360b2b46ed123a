import { STEP_LIFECYCLE } from "@planwright/plan";
import { expect, test } from "vitest";
import { INVARIANTS } from "./checker/invariants.ts";
import { type SeedOptions, simulateSeed } from "./simulate-seed.ts";

/** Of `npm test`; and of `npm run proof`, whose `npm run simulate` runs more. */
const SEEDS = 25;
const PROOF_SEEDS = 300;
const PROOF = { tags: ["proof"] };
/** An additional seed for a rare move: from RETRYING to IN_DOUBT. */
const RARE = [2770];
/**
 * A move that tens of thousands of seeds do not make: an operator says "retry", and the plan ends before the
 * call is made again. A test of the engine makes it (`packages/engine/test/in-doubt.test.ts`).
 */
const MADE_ELSEWHERE = ["steps PENDING -> IN_DOUBT"];
/**
 * Seeds with batches that are sent again with all items; an operator has decided about calls of these plans (all
 * but 35). They depend on the random values and on this world: when either draws differently, they have to be
 * searched for again in the logs of seeds (`npm run simulate -- --seed 35 --trace`).
 */
const REPEATED_BATCHES = [35, 441, 584, 1124, 1959, 3241];
/**
 * Seeds with servers that were unreachable, with the same reservation: for a lookup (76, 161, 433), and in a
 * world where an operator decides about calls (161, 425, 433).
 */
const UNREACHABLE = [76, 161, 425, 433];
/** A seed whose claim is reported as survived after the next claim has counted it, with the same reservation. */
const REPORTED_LATE = [4366];

/** Simulates seeds and returns the moves that they make. Fails at a violated invariant. */
async function movesOf(seeds: readonly number[], settings?: SeedOptions["settings"]): Promise<Set<string>> {
  const made = new Set<string>();
  for (const seed of seeds) {
    const { violation, log, moves } = await simulateSeed(seed, { settings });
    for (const move of moves) made.add(move);
    if (!violation) continue;
    const { invariant, message, at } = violation;
    expect.fail(
      [
        ...log,
        `Seed ${seed} violates ${invariant} (${INVARIANTS[invariant]}) at ${at} ms: ${message}`,
        `Replay: npm run simulate -- --seed ${seed}`,
      ].join("\n"),
    );
  }
  return made;
}
const firstSeeds = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test(`every invariant holds over the first ${SEEDS} seeds, and over those with rare moves`, async () => {
  await movesOf([...firstSeeds(SEEDS), ...RARE, ...REPEATED_BATCHES, ...UNREACHABLE, ...REPORTED_LATE]);
});

test(
  `every invariant holds over the first ${PROOF_SEEDS} seeds, which make every move of the steps' table`,
  PROOF,
  async () => {
    const made = await movesOf([
      ...firstSeeds(PROOF_SEEDS),
      ...RARE,
      ...REPEATED_BATCHES,
      ...UNREACHABLE,
      ...REPORTED_LATE,
    ]);
    // The checker fails on a move that is not in the table.
    const never = Object.entries(STEP_LIFECYCLE).flatMap(([from, { moves }]) =>
      moves.map((to) => `steps ${from} -> ${to}`).filter((move) => !made.has(move)),
    );
    expect(never.filter((move) => !MADE_ELSEWHERE.includes(move))).toEqual([]);
  },
);

test("every invariant holds when lists give their items to the batch parameter themselves", async () => {
  await movesOf(firstSeeds(SEEDS), { plannedBatches: 1 });
});

/** What holds for each seed: `npm test` plays a few, `npm run proof` the others. */
for (const { from, to, options } of [
  { from: 1, to: 5, options: {} },
  { from: 6, to: 60, options: PROOF },
]) {
  test(
    `the same seed has the same events, in the same order, at the same times (${from} to ${to})`,
    options,
    async () => {
      for (let seed = from; seed <= Math.min(to, 20); seed++) {
        const first = await simulateSeed(seed);
        const second = await simulateSeed(seed);
        expect({ seed, hash: second.hash, log: second.log }).toEqual({
          seed,
          hash: first.hash,
          log: first.log,
        });
      }
    },
  );

  test(`different seeds have different events (${from} to ${to})`, options, async () => {
    const hashes = new Set<string>();
    for (let seed = from; seed <= to; seed++) hashes.add((await simulateSeed(seed)).hash);
    expect(hashes.size).toBe(to - from + 1);
  });

  test(
    `clocks that are wrong by up to an hour, or jump by an hour, change nothing (${from} to ${to})`,
    options,
    async () => {
      for (let seed = from; seed <= to; seed++) {
        const right = await simulateSeed(seed, { settings: { wallOffsetMs: 0, clockJumps: 0 } });
        const wrong = await simulateSeed(seed, { settings: { wallOffsetMs: 3_600_000, clockJumps: 0 } });
        const jumping = await simulateSeed(seed, { settings: { wallOffsetMs: 3_600_000, clockJumps: 3 } });
        expect({ seed, hashes: [wrong.hash, jumping.hash] }).toEqual({
          seed,
          hashes: [right.hash, right.hash],
        });
      }
    },
  );

  test(
    `a queue that loses every job only delays plans until the next sweep (${from} to ${to})`,
    options,
    async () => {
      for (let seed = from; seed <= to; seed++) {
        const { violation } = await simulateSeed(seed, {
          settings: { queue: { lost: 1, doubled: 0, maxDelayMs: 1 } },
        });
        expect({ seed, violation }).toEqual({ seed, violation: null });
      }
    },
  );
}
