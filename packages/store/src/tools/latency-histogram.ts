/**
 * Number of calls by bucket of duration: a call is in the first bucket whose bound is not below its duration.
 * Empty buckets are left out.
 */
export type LatencyHistogram = { [bucket: string]: number };

/** Each bound is the previous one times 2^(1/4), about 19 % more; the first is 1 ms. */
const BUCKETS_PER_DOUBLING = 4;
/** The bound of the last bucket is about 70 minutes. A step may take an hour at most. */
const LAST_BUCKET = 88;

/** The bucket of a duration in milliseconds, from 0. */
export function latencyBucket(durationMs: number): number {
  if (durationMs <= 1) return 0;
  return Math.min(LAST_BUCKET, Math.ceil(Math.log2(durationMs) * BUCKETS_PER_DOUBLING));
}

/**
 * A quantile of the counted durations, in whole milliseconds; null without any. It is the bound of the bucket
 * that holds the quantile, so it is never below the true value, and at most 19 % above it (rounded to a
 * millisecond).
 * @param quantile - above 0, at most 1; 0.5 is the median
 */
export function latencyQuantile(histogram: LatencyHistogram, quantile: number): number | null {
  const counts = Object.entries(histogram)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .toSorted((one, other) => one.bucket - other.bucket);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.ceil(total * quantile);
  let seen = 0;
  for (const { bucket, count } of counts) {
    seen += count;
    if (seen >= rank) return Math.ceil(2 ** (bucket / BUCKETS_PER_DOUBLING));
  }
  return null;
}
