import { createHash } from "node:crypto";

/** A log of events: the last ones as text, all of them as a hash for comparison. */
export interface EventLog {
  note(kind: string, ...facts: (string | number)[]): void;
  /** The last events, oldest first, one line each with its time in ms. */
  last(): string[];
  /** Hash over all events: equal logs have equal hashes. */
  hash(): string;
}

/** Default number of events that are kept as text. */
const KEPT = 48;

/** Creates an empty log. @param now - simulated milliseconds */
export function createEventLog(now: () => number, kept = KEPT): EventLog {
  const ring: (string | number)[][] = [];
  const hash = createHash("sha256");
  let count = 0;
  return {
    note(kind, ...facts) {
      const event = [now(), kind, ...facts];
      hash.update(JSON.stringify(event));
      ring[count++ % kept] = event;
    },
    last() {
      const from = Math.max(0, count - kept);
      return Array.from({ length: count - from }, (_, index) => lineOf(ring[(from + index) % kept] ?? []));
    },
    hash: () => hash.copy().digest("hex").slice(0, 8),
  };
}

function lineOf([at = 0, ...facts]: (string | number)[]): string {
  return `${String(at).padStart(7)} ms  ${facts.join(" ")}`;
}
