import { percentile, rounded } from "./statistics.ts";

/** Latencies of many measurements of the same operation. */
export interface Latencies {
  count: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Percentiles of durations in milliseconds, rounded to a tenth; all 0 without durations. Pure. */
export function latenciesOf(durationsMs: readonly number[]): Latencies {
  const at = (share: number) => rounded(percentile(durationsMs, share), 1);
  return { count: durationsMs.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) };
}

/** Rate per second, rounded to an integer. Pure. */
export function perSecond(count: number, ms: number): number {
  return ms > 0 ? Math.round((count * 1_000) / ms) : 0;
}
