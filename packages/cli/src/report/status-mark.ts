import type { Tone } from "../terminal/style.ts";

/** How a status looks. */
export interface Mark {
  symbol: string;
  tone: Tone;
}

const MARKS: ReadonlyMap<string, Mark> = new Map<string, Mark>([
  ["COMPLETED", { symbol: "✔", tone: "good" }],
  ["PARTIAL", { symbol: "◐", tone: "attention" }],
  ["FAILED", { symbol: "✖", tone: "bad" }],
  ["EXPIRED", { symbol: "✖", tone: "bad" }],
  ["INVALID", { symbol: "✖", tone: "bad" }],
  ["CANCELLED", { symbol: "⊘", tone: "attention" }],
  ["SKIPPED", { symbol: "↷", tone: "quiet" }],
  ["IN_DOUBT", { symbol: "?", tone: "attention" }],
  ["WAITING_APPROVAL", { symbol: "!", tone: "attention" }],
  ["NEEDS_INPUT", { symbol: "!", tone: "attention" }],
  ["WAITING", { symbol: "!", tone: "attention" }],
  ["PAUSED", { symbol: "!", tone: "attention" }],
  ["RETRYING", { symbol: "↻", tone: "attention" }],
  ["RUNNING", { symbol: "▸", tone: "busy" }],
  ["EXECUTING", { symbol: "▸", tone: "busy" }],
  ["PLANNING", { symbol: "▸", tone: "busy" }],
]);

/** The mark of a plan's, step's or request's status; the one of PENDING for those that are not known. */
export function markOf(status: string): Mark {
  return MARKS.get(status) ?? { symbol: "○", tone: "quiet" };
}
