import { STATE_LOOKS, type StateLook, type StateTone, stateLook } from "@planwright/plan";

export { lookOf } from "@planwright/plan";

/** How a status looks, by the one table of states: the command line says the same words. */
export type StatusLook = StateLook;

/** What a status means for the reader. */
export type Tone = StateTone;

export const STEP_LOOK = STATE_LOOKS.step;

const TROUBLED: ReadonlySet<string> = new Set(["FAILED", "IN_DOUBT", "WAITING_APPROVAL", "RETRYING"]);

/** True for a step or an item that needs a look. */
export const isTroubled = ({ status }: { status: string }): boolean => TROUBLED.has(status);
export const PLAN_LOOK = STATE_LOOKS.plan;
export const REQUEST_LOOK = STATE_LOOKS.request;

/** "now", "40 s ago", "12 min ago", "3 h ago", "5 d ago". */
export function agoText(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1_000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** "2026-11-24 15:30:12 UTC". */
export function instantText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

/** The time of day in UTC with milliseconds, "15:30:12.345": for lists in which the order of events matters. */
export function clockText(at: string): string {
  return at.slice(11, 23).replace("Z", "");
}

/** When the first open approval ends: "expires at 2026-11-24 15:30:12 UTC". */
export function expiryText(at: string): string {
  return `expires at ${instantText(at)}`;
}

/** "in 40 s", "in 12 min", "in 3 h", "in 5 d"; "now" for an instant that has passed. */
export function inText(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  if (seconds <= 0) return "now";
  if (seconds < 60) return `in ${seconds} s`;
  if (seconds < 3_600) return `in ${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `in ${Math.floor(seconds / 3_600)} h`;
  return `in ${Math.floor(seconds / 86_400)} d`;
}

const look = (word: string, mark: string, tone: Tone): StatusLook => ({ word, mark, tone });

/** How a request looks that waits for a person, by what it needs; the words are those of the table. */
export const NEED_LOOK = {
  APPROVAL: { ...stateLook("plan", { status: "WAITING", waitReason: "approval" }), short: "to approve" },
  DOUBT: { ...STATE_LOOKS.step.IN_DOUBT, short: "in doubt" },
  ANSWER: { ...STATE_LOOKS.request.NEEDS_INPUT, short: "to answer" },
  SIGN_IN: { ...stateLook("plan", { status: "WAITING", waitReason: "sign-in" }), short: "to sign in" },
} as const;

/** How a worker looks. */
export const WORKER_LOOK = {
  takesWork: look("takes work", "✔", "good"),
  stops: look("is stopping", "‖", "attention"),
  silent: look("is silent", "?", "attention"),
  died: look("died", "✖", "bad"),
} as const;

/** How the connection to a tool server looks. */
export const SERVER_LOOK = {
  CONNECTED: look("connected", "✔", "good"),
  CONNECTING: look("connecting", "…", "active"),
  UNREACHABLE: look("unreachable", "✖", "bad"),
  SIGN_IN: look("needs a sign-in", "!", "attention"),
} as const;

/** How a text at the desk looks that is checked while it is written. */
export const CHECK_LOOK = {
  empty: look("empty", "○", "quiet"),
  checking: look("checking", "…", "active"),
  fault: look("not JSON", "✖", "bad"),
  invalid: look("invalid", "✖", "bad"),
  valid: look("valid", "✔", "good"),
  unknown: look("not checked", "?", "attention"),
} as const;

/** The words of pills that are not in the table of states. */
export const VIEW_LOOKS: readonly StatusLook[] = [
  ...Object.values(WORKER_LOOK),
  ...Object.values(SERVER_LOOK),
  ...Object.values(CHECK_LOOK),
];
