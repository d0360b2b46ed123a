import { expect, test } from "vitest";
import { INVARIANTS } from "./checker/invariants.ts";
import { simulateSeed } from "./simulate-seed.ts";

/** The full ten thousand are for `npm run simulate`. */
const SEEDS = 300;

test(`every invariant holds over the first ${SEEDS} seeds`, { timeout: 120_000 }, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violation, log } = await simulateSeed(seed);
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
});

test("the same seed lives through the same events, in the same order, at the same times", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const first = await simulateSeed(seed);
    const second = await simulateSeed(seed);
    expect({ seed, hash: second.hash, log: second.log }).toEqual({ seed, hash: first.hash, log: first.log });
  }
});

test("different seeds live through different events", async () => {
  const hashes = new Set<number>();
  for (let seed = 1; seed <= 50; seed++) hashes.add((await simulateSeed(seed)).hash);
  expect(hashes.size).toBe(50);
});

test("clocks that are wrong by up to an hour, and jump by one, change nothing at all", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const right = await simulateSeed(seed, { settings: { wallOffsetMs: 0, clockJumps: 0 } });
    const wrong = await simulateSeed(seed, { settings: { wallOffsetMs: 3_600_000, clockJumps: 0 } });
    const jumping = await simulateSeed(seed, { settings: { wallOffsetMs: 3_600_000, clockJumps: 3 } });
    expect({ seed, hashes: [wrong.hash, jumping.hash] }).toEqual({ seed, hashes: [right.hash, right.hash] });
  }
});

test("a queue that loses every job delays plans by a sweep, and nothing else", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { violation } = await simulateSeed(seed, {
      settings: { queue: { lost: 1, doubled: 0, maxDelayMs: 1 } },
    });
    expect({ seed, violation }).toEqual({ seed, violation: null });
  }
});
