import { readdirSync, readFileSync } from "node:fs";

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

/**
 * The smallest value that this share of the values does not exceed (nearest rank); 0 for an empty list. Pure.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The middle value, or the mean of the two middle values; 0 for an empty list. Pure. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? 0)) / 2 : upper;
}

/** The value rounded to this number of decimals. Pure. */
export function rounded(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals;
}

/** Kernel ticks per second: 100 on every Linux on which Node runs. */
const TICKS_PER_SECOND = 100;

/**
 * Names of processes, each with a part of the command line that identifies the process; the first match
 * counts.
 */
export type ProcessNames = readonly (readonly [part: string, name: string])[];

/**
 * CPU time used so far by this process ("bench") and the servers that it started, in seconds. It shows what
 * to improve, even on a busy machine. Only "bench" without /proc.
 * @param roots - ids of processes: only these and what they started are counted, beside this process. Default:
 *   everything that this process started
 */
export function cpuSeconds(names: ProcessNames, roots?: readonly number[]): Map<string, number> {
  const { user, system } = process.cpuUsage();
  const seconds = new Map([["bench", (user + system) / 1e6]]);
  for (const pid of processIds(roots)) {
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const name = names.find(([part]) => commandLine.includes(part))?.[1];
      if (!name || Number(pid) === process.pid) continue;
      // Fields 14 and 15, counted from the closing bracket of the command, because the command may contain
      // spaces.
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      const ticks = Number(fields[11]) + Number(fields[12]);
      seconds.set(name, (seconds.get(name) ?? 0) + ticks / TICKS_PER_SECOND);
    } catch {
      // The process has ended.
    }
  }
  return seconds;
}

/** These processes and their descendants, without other benchmarks and stacks on the machine. */
function processIds(roots: readonly number[] = [process.pid]): string[] {
  try {
    const parents = new Map<string, string>();
    for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      parents.set(pid, parentOf(pid));
    }
    const isOurs = (pid: string | undefined): boolean =>
      pid !== undefined && (roots.includes(Number(pid)) || isOurs(parents.get(pid)));
    return [...parents.keys()].filter(isOurs);
  } catch {
    return []; // not Linux
  }
}

function parentOf(pid: string): string {
  try {
    return /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
  } catch {
    return ""; // it has ended
  }
}

/** CPU milliseconds per plan by process, between two readings. */
export function cpuMsPerPlan(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  plans: number,
): Record<string, number> {
  const entries = [...after].map(([name, seconds]): [string, number] => {
    const used = seconds - (before.get(name) ?? 0);
    return [name, Math.round((used * 100_000) / plans) / 100];
  });
  return Object.fromEntries(entries);
}

/** Resident memory of the process whose command line contains `part`, in MiB; null without /proc. */
export function residentMiB(part: string): number | null {
  for (const pid of processIds()) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(part)) continue;
      const kiB = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      if (kiB !== undefined) return Math.round(Number(kiB) / 1_024);
    } catch {
      // The process has ended.
    }
  }
  return null;
}
