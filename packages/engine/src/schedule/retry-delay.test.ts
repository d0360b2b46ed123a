import { expect, test } from "vitest";
import { retryDelay } from "./after-failure.ts";

const DEFAULT = { initialMs: 1_000, maxMs: 30_000, strategy: "exponential" } as const;

test.each([
  [1, 0, undefined, 0],
  [1, 0.5, undefined, 500],
  [1, 0.999, undefined, 999],
  [2, 0.5, undefined, 1_000],
  [5, 0.5, undefined, 8_000],
  [6, 0.5, undefined, 15_000],
  [20, 0.5, undefined, 15_000],
  [1, 0.5, 7_000, 7_000],
  [6, 0.5, 7_000, 15_000],
])(
  "after %i attempts, random %d and Retry-After %s the wait is %i ms",
  (attempt, random, retryAfterMs, delay) => {
    expect(retryDelay(DEFAULT, attempt, random, retryAfterMs)).toBe(delay);
  },
);

test.each([
  ["exponential", [1_000, 2_000, 4_000, 5_000, 5_000]],
  ["linear", [1_000, 2_000, 3_000, 4_000, 5_000]],
  ["fixed", [1_000, 1_000, 1_000, 1_000, 1_000]],
] as const)("the bound of the wait grows as the strategy %s says, up to maxMs", (strategy, bounds) => {
  const backoff = { initialMs: 1_000, maxMs: 5_000, strategy };
  const delays = bounds.map((_, index) => retryDelay(backoff, index + 1, 0.5));
  expect(delays).toEqual(bounds.map((bound) => bound / 2));
});
