import { expect, test } from "vitest";
import { type LatencyHistogram, latencyBucket, latencyQuantile } from "./latency-histogram.ts";

function histogramOf(durations: readonly number[]): LatencyHistogram {
  const histogram: LatencyHistogram = {};
  for (const duration of durations) {
    const bucket = latencyBucket(duration);
    histogram[bucket] = (histogram[bucket] ?? 0) + 1;
  }
  return histogram;
}

test("an empty histogram has no quantile", () => {
  expect(latencyQuantile({}, 0.5)).toBeNull();
});

test.each([0, 0.4, 1, 2, 3, 17, 250, 1_000, 29_999, 600_000, 3_600_000])(
  "the quantile of one duration of %d ms is not below it, and at most 19 %% and a millisecond above it",
  (duration) => {
    const quantile = latencyQuantile(histogramOf([duration]), 0.99)!;
    expect(quantile).toBeGreaterThanOrEqual(duration);
    expect(quantile).toBeLessThanOrEqual(duration * 1.19 + 1);
  },
);

test("the median and the 99th percentile of a hundred calls are the durations at their ranks", () => {
  const durations = [...Array(50).fill(10), ...Array(48).fill(100), 5_000, 60_000];
  const histogram = histogramOf(durations);
  expect(latencyQuantile(histogram, 0.5)).toBe(latencyQuantile(histogramOf([10]), 1));
  expect(latencyQuantile(histogram, 0.98)).toBe(latencyQuantile(histogramOf([100]), 1));
  expect(latencyQuantile(histogram, 0.99)).toBe(latencyQuantile(histogramOf([5_000]), 1));
  expect(latencyQuantile(histogram, 1)).toBe(latencyQuantile(histogramOf([60_000]), 1));
});

test("a duration beyond the last bucket is counted in the last one", () => {
  expect(latencyBucket(1e12)).toBe(latencyBucket(5_000_000));
});
