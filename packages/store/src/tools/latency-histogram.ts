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
 * A quantile of the counted durations, in whole milliseconds; null without any. It is the mean of the durations
 * that were measured in the bucket of the quantile: exact where they are equal, and otherwise within 19 % of the
 * true value.
 * @param sums - the summed durations of each bucket, in milliseconds. A bucket without its sum counts with its
 * lower bound
 * @param quantile - above 0, at most 1; 0.5 is the median
 */
export function latencyQuantile(
  histogram: LatencyHistogram,
  sums: LatencyHistogram,
  quantile: number,
): number | null {
  const counts = Object.entries(histogram)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .toSorted((one, other) => one.bucket - other.bucket);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.ceil(total * quantile);
  let seen = 0;
  for (const { bucket, count } of counts) {
    seen += count;
    if (seen < rank) continue;
    const [lower, upper] = [bucket === 0 ? 0 : boundOf(bucket - 1), boundOf(bucket)];
    const mean = (sums[bucket] ?? 0) / count;
    return Math.ceil(Math.max(lower, bucket === LAST_BUCKET ? mean : Math.min(mean, upper)));
  }
  return null;
}

function boundOf(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_DOUBLING);
}
