import { expect, test } from "vitest";
import { retryDelay } from "./retry-delay.ts";

const DEFAULT = { initialMs: 1_000, maxMs: 30_000 };

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
