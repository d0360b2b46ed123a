import type { PlanStatus, RequestStatus, StepStatus } from "@planwright/plan";
import type { Tone } from "../terminal/style.ts";

/** The symbol and tone of a status. */
export interface Mark {
  symbol: string;
  tone: Tone;
}

const MARKS: Readonly<Record<RequestStatus | PlanStatus | StepStatus, Mark>> = {
  COMPLETED: { symbol: "✔", tone: "good" },
  PARTIAL: { symbol: "◐", tone: "attention" },
  FAILED: { symbol: "✖", tone: "bad" },
  EXPIRED: { symbol: "✖", tone: "bad" },
  INVALID: { symbol: "✖", tone: "bad" },
  CANCELLED: { symbol: "⊘", tone: "attention" },
  SKIPPED: { symbol: "↷", tone: "quiet" },
  IN_DOUBT: { symbol: "?", tone: "attention" },
  WAITING_APPROVAL: { symbol: "!", tone: "attention" },
  NEEDS_INPUT: { symbol: "!", tone: "attention" },
  WAITING: { symbol: "!", tone: "attention" },
  PAUSED: { symbol: "!", tone: "attention" },
  RETRYING: { symbol: "↻", tone: "attention" },
  RUNNING: { symbol: "▸", tone: "busy" },
  EXECUTING: { symbol: "▸", tone: "busy" },
  PLANNING: { symbol: "▸", tone: "busy" },
  CANCELLING: { symbol: "▸", tone: "busy" },
  PENDING: { symbol: "○", tone: "quiet" },
  READY: { symbol: "○", tone: "quiet" },
  QUEUED: { symbol: "○", tone: "quiet" },
  SUPERSEDED: { symbol: "○", tone: "quiet" },
};

const OTHER: Mark = { symbol: "○", tone: "quiet" };

/**
 * The mark of the status of a plan, step or request; a plain one for an unknown status: the API may be newer.
 */
export function markOf(status: string): Mark {
  return Object.hasOwn(MARKS, status) ? MARKS[status as keyof typeof MARKS] : OTHER;
}
