import { readdirSync, readFileSync } from "node:fs";

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
 */
export function cpuSeconds(names: ProcessNames): Map<string, number> {
  const { user, system } = process.cpuUsage();
  const seconds = new Map([["bench", (user + system) / 1e6]]);
  for (const pid of processIds()) {
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

/** The descendants of this process, without other benchmarks and stacks on the machine. */
function processIds(): string[] {
  try {
    const parents = new Map<string, string>();
    for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      parents.set(pid, parentOf(pid));
    }
    const isOurs = (pid: string | undefined): boolean =>
      pid !== undefined && (pid === String(process.pid) || isOurs(parents.get(pid)));
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
