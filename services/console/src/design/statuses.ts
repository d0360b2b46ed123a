import type { PlanStatus, RequestStatus, StepStatus } from "@planwright/plan";

/** How a status looks. Colour is never the only sign: each status also has a mark and a word. */
export interface StatusLook {
  /** The name for people, in lower case. */
  word: string;
  /** A mark that differs in shape from those of other tones. */
  mark: string;
  tone: Tone;
}

/**
 * The meaning of a status for the reader. `active`: work is in progress; `attention`: a person has to act.
 */
export type Tone = "good" | "bad" | "active" | "attention" | "quiet";

const look = (word: string, mark: string, tone: Tone): StatusLook => ({ word, mark, tone });

/** A new status without a row does not compile. */
export const STEP_LOOK: Record<StepStatus, StatusLook> = {
  PENDING: look("pending", "○", "quiet"),
  WAITING_APPROVAL: look("waits for approval", "◆", "attention"),
  RUNNING: look("running", "▶", "active"),
  RETRYING: look("retrying", "↻", "active"),
  COMPLETED: look("completed", "✓", "good"),
  FAILED: look("failed", "✕", "bad"),
  SKIPPED: look("skipped", "–", "quiet"),
  IN_DOUBT: look("in doubt", "?", "attention"),
  CANCELLED: look("cancelled", "⊘", "quiet"),
};

export const PLAN_LOOK: Record<PlanStatus, StatusLook> = {
  INVALID: look("invalid", "✕", "bad"),
  READY: look("ready", "○", "quiet"),
  QUEUED: look("queued", "…", "active"),
  RUNNING: look("running", "▶", "active"),
  WAITING: look("waiting", "‖", "active"),
  PAUSED: look("paused", "‖", "attention"),
  CANCELLING: look("cancelling", "⊘", "active"),
  COMPLETED: look("completed", "✓", "good"),
  PARTIAL: look("partial", "◐", "bad"),
  FAILED: look("failed", "✕", "bad"),
  CANCELLED: look("cancelled", "⊘", "quiet"),
  EXPIRED: look("expired", "⌛", "bad"),
  SUPERSEDED: look("superseded", "↷", "quiet"),
};

export const REQUEST_LOOK: Record<RequestStatus, StatusLook> = {
  PLANNING: look("planning", "…", "active"),
  NEEDS_INPUT: look("needs input", "?", "attention"),
  READY: look("ready", "○", "quiet"),
  EXECUTING: look("executing", "▶", "active"),
  COMPLETED: look("completed", "✓", "good"),
  PARTIAL: look("partial", "◐", "bad"),
  FAILED: look("failed", "✕", "bad"),
  CANCELLED: look("cancelled", "⊘", "quiet"),
};

/**
 * The look of a status. A newer API may have statuses that this page does not know; they are shown by name.
 */
export function lookOf(looks: Readonly<Record<string, StatusLook>>, status: string): StatusLook {
  return looks[status] ?? look(status.toLowerCase().replaceAll("_", " "), "•", "quiet");
}
