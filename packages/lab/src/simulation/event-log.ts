import { hashOf } from "./random.ts";

/** What happened, for people (the last of it) and for comparison (all of it). */
export interface EventLog {
  note(kind: string, ...facts: (string | number)[]): void;
  /** The last events, oldest first, one line each with its time in ms. */
  last(): string[];
  /** Equal for equal logs. */
  hash(): number;
}

/** Events that are kept for people. */
const KEPT = 48;

/** An empty log. `now`: simulated milliseconds. */
export function createEventLog(now: () => number, kept = KEPT): EventLog {
  const ring: (string | number)[][] = [];
  let count = 0;
  let hash = 0;
  return {
    note(kind, ...facts) {
      const at = now();
      hash = hashOf(kind, hash ^ at);
      for (const fact of facts)
        hash = typeof fact === "string" ? hashOf(fact, hash) : Math.imul(hash, 31) + fact;
      ring[count++ % kept] = [at, kind, ...facts];
    },
    last() {
      const from = Math.max(0, count - kept);
      return Array.from({ length: count - from }, (_, index) => lineOf(ring[(from + index) % kept] ?? []));
    },
    hash: () => hash >>> 0,
  };
}

function lineOf([at = 0, ...facts]: (string | number)[]): string {
  return `${String(at).padStart(7)} ms  ${facts.join(" ")}`;
}
