import type { Collections } from "../database/collections.ts";
import type { ToolCallStatsDocument } from "../records/tool-documents.ts";

/** One process's counts of the calls of one tool in one tenant, within one hour. */
export type CountedCalls = Required<Omit<ToolCallStatsDocument, "_id">>;

/** Results of the recent calls of one tool in one tenant. */
export interface ToolCallStats {
  server: string;
  /** The tool's name on the server. */
  tool: string;
  calls: number;
  failures: number;
  /** Median duration of sent calls, in milliseconds, as exact as {@link latencyQuantile}; null: none. */
  p50Ms: number | null;
  /** 99th percentile of the same. */
  p99Ms: number | null;
  /** Failures by code, the most frequent first. */
  errors: { code: string; count: number }[];
  lastAt: Date;
}

/** How far back calls are counted, in milliseconds. */
const TOOL_CALLS_COUNTED_MS = 86_400_000;

const HOUR_MS = 3_600_000;

/** The beginning of the hour, in UTC, of a moment in Unix milliseconds. */
export function hourOf(atMs: number): Date {
  return new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS);
}

/** The beginning of the counted period at a moment: of the hour that contains the moment 24 hours before. */
export function toolCallsSince(nowMs: number): Date {
  return hourOf(nowMs - TOOL_CALLS_COUNTED_MS);
}

/** Adds the counts of a process to those of all in one bulk. Increments lose no other count. */
export async function addToolCalls(
  { toolCallStats }: Collections,
  counted: readonly CountedCalls[],
): Promise<void> {
  if (counted.length === 0) return;
  const updates = counted.map(({ tenant, server, tool, hour, lastAt, ...counts }) => ({
    updateOne: {
      filter: { _id: `${tenant}/${server}/${tool}/${hour.toISOString()}` },
      update: {
        $setOnInsert: { tenant, server, tool, hour },
        $max: { lastAt },
        $inc: {
          calls: counts.calls,
          failures: counts.failures,
          ...under("durations", counts.durations),
          ...under("durationSums", counts.durationSums),
          ...under("errors", counts.errors),
        },
      },
      upsert: true,
    },
  }));
  await toolCallStats.bulkWrite(updates, { ordered: false });
}

function under(field: string, counts: { [name: string]: number }): { [path: string]: number } {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${field}.${name}`, count]));
}

interface SummedHours extends Pick<ToolCallStatsDocument, "calls" | "failures" | "lastAt"> {
  _id: Pick<ToolCallStatsDocument, "server" | "tool">;
  durations: (LatencyHistogram | undefined)[];
  durationSums: (LatencyHistogram | undefined)[];
  errors: ({ [code: string]: number } | undefined)[];
}

/** Results of a tenant's calls since a moment, by tool; tools without a call are left out. */
export async function readToolCalls(
  { toolCallStats }: Collections,
  tenant: string,
  since: Date,
): Promise<ToolCallStats[]> {
  const summed = await toolCallStats
    .aggregate<SummedHours>([
      { $match: { tenant, hour: { $gte: since } } },
      {
        $group: {
          _id: { server: "$server", tool: "$tool" },
          calls: { $sum: "$calls" },
          failures: { $sum: "$failures" },
          lastAt: { $max: "$lastAt" },
          durations: { $push: "$durations" },
          durationSums: { $push: "$durationSums" },
          errors: { $push: "$errors" },
        },
      },
    ])
    .toArray();
  return summed.map(({ _id: { server, tool }, calls, failures, lastAt, ...hours }) => {
    const [durations, sums] = [sumOf(hours.durations), sumOf(hours.durationSums)];
    const errors = Object.entries(sumOf(hours.errors)).map(([code, count]) => ({ code, count }));
    return {
      server,
      tool,
      calls,
      failures,
      p50Ms: latencyQuantile(durations, sums, 0.5),
      p99Ms: latencyQuantile(durations, sums, 0.99),
      errors: errors.toSorted((one, other) => other.count - one.count || (one.code < other.code ? -1 : 1)),
      lastAt,
    };
  });
}

function sumOf(counts: readonly ({ [name: string]: number } | undefined)[]): { [name: string]: number } {
  const sums = new Map<string, number>();
  for (const one of counts)
    for (const [name, count] of Object.entries(one ?? {})) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

/** Number of calls by bucket of duration: the first one whose bound is not below it. Without empty ones. */
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
