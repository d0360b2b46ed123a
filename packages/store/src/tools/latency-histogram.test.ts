import { expect, test } from "vitest";
import { type LatencyHistogram, latencyBucket, latencyQuantile } from "./tool-call-stats.ts";

function quantileOf(durations: readonly number[], quantile: number): number | null {
  const histogram: LatencyHistogram = {};
  const sums: LatencyHistogram = {};
  for (const duration of durations) {
    const bucket = latencyBucket(duration);
    histogram[bucket] = (histogram[bucket] ?? 0) + 1;
    sums[bucket] = (sums[bucket] ?? 0) + duration;
  }
  return latencyQuantile(histogram, sums, quantile);
}

test("an empty histogram has no quantile", () => {
  expect(quantileOf([], 0.5)).toBeNull();
});

test.each([0, 0.4, 1, 2, 3, 17, 40, 250, 1_000, 29_999, 600_000, 3_600_000, 1e9])(
  "the quantile of calls that took %d ms is this duration, rounded up to a millisecond",
  (duration) => {
    expect(quantileOf([duration], 0.99)).toBe(Math.ceil(duration));
    expect(quantileOf([duration, duration, duration], 0.5)).toBe(Math.ceil(duration));
  },
);

test("the median and the 99th percentile of a hundred calls are the durations at their ranks", () => {
  const durations = [...Array(50).fill(10), ...Array(48).fill(100), 5_000, 60_000];
  expect(quantileOf(durations, 0.5)).toBe(10);
  expect(quantileOf(durations, 0.98)).toBe(100);
  expect(quantileOf(durations, 0.99)).toBe(5_000);
  expect(quantileOf(durations, 1)).toBe(60_000);
});

test("a bucket without sums of its durations counts with its lower bound", () => {
  expect(latencyQuantile({ [latencyBucket(100)]: 3 }, {}, 0.5)).toBe(91);
});

test("a duration beyond the last bucket is counted in the last one", () => {
  expect(latencyBucket(1e12)).toBe(latencyBucket(5_000_000));
});
