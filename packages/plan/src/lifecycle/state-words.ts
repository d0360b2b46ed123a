/**
 * The words, marks and tones of states for people: the one table from which the command line, the console and the
 * diagnosis speak, so that they say the same about the same state.
 */

import { isForPerson, type WaitReason } from "./lifecycle.ts";
import type { PlanStatus } from "./plan-lifecycle.ts";
import type { RequestStatus } from "./request-lifecycle.ts";
import type { StepStatus } from "./step-lifecycle.ts";

/** What a state means for the reader. `active`: work is in progress; `attention`: a person has to act, or may. */
export type StateTone = "good" | "bad" | "active" | "attention" | "quiet";

/** How a state looks. Colour is never the only sign: each state also has a mark and words. */
export interface StateLook {
  /** A few words in lower case, such as "waits for an approval". */
  word: string;
  mark: string;
  tone: StateTone;
}

const look = (word: string, mark: string, tone: StateTone): StateLook => ({ word, mark, tone });

/** A new status without a row does not compile. */
export const STATE_LOOKS: {
  readonly step: Readonly<Record<StepStatus, StateLook>>;
  readonly plan: Readonly<Record<PlanStatus, StateLook>>;
  readonly request: Readonly<Record<RequestStatus, StateLook>>;
} = {
  step: {
    PENDING: look("pending", "○", "quiet"),
    WAITING_APPROVAL: look("waits for an approval", "!", "attention"),
    RUNNING: look("running", "▸", "active"),
    RETRYING: look("retrying", "↻", "active"),
    COMPLETED: look("completed", "✔", "good"),
    FAILED: look("failed", "✖", "bad"),
    SKIPPED: look("skipped", "↷", "quiet"),
    IN_DOUBT: look("in doubt", "?", "attention"),
    CANCELLED: look("cancelled", "⊘", "quiet"),
  },
  plan: {
    INVALID: look("invalid", "✖", "bad"),
    READY: look("ready", "○", "quiet"),
    QUEUED: look("queued", "○", "quiet"),
    RUNNING: look("running", "▸", "active"),
    WAITING: look("waiting", "‖", "active"),
    PAUSED: look("paused", "‖", "attention"),
    CANCELLING: look("cancelling", "⊘", "active"),
    COMPLETED: look("completed", "✔", "good"),
    PARTIAL: look("partial", "◐", "attention"),
    FAILED: look("failed", "✖", "bad"),
    CANCELLED: look("cancelled", "⊘", "quiet"),
    EXPIRED: look("expired", "✖", "bad"),
    SUPERSEDED: look("superseded", "○", "quiet"),
  },
  request: {
    PLANNING: look("planning", "▸", "active"),
    NEEDS_INPUT: look("needs input", "!", "attention"),
    READY: look("ready", "○", "quiet"),
    EXECUTING: look("executing", "▸", "active"),
    COMPLETED: look("completed", "✔", "good"),
    PARTIAL: look("partial", "◐", "attention"),
    FAILED: look("failed", "✖", "bad"),
    CANCELLED: look("cancelled", "⊘", "quiet"),
  },
};

/** What is waited for, in words. */
export const WAIT_WORDS: Readonly<Record<WaitReason, string>> = {
  dependency: "waits for other steps",
  limit: "waits for a free slot of its tool",
  backoff: "waits for its next try",
  memory: "waits for memory of its executor",
  approval: "waits for an approval",
  "in doubt": "in doubt",
  "sign-in": "waits for a sign-in",
  paused: "paused",
  "no worker": "no executor is alive",
};

const EFFECT_WORDS: Readonly<Record<string, string>> = {
  none: "none: nothing happened",
  possible: "possible: it may have acted",
  done: "done: it acted",
};

/** What is known about the effects of a step's calls, in words; an effect of a newer API is shown by its name. */
export function effectWords(effect: string): string {
  return Object.hasOwn(EFFECT_WORDS, effect) ? (EFFECT_WORDS[effect] ?? effect) : effect;
}

/**
 * The look of a state, with what it waits for. An API that is newer may have other statuses and wait reasons: these
 * are shown by their names. Pure.
 * @param state.waitReason - null or absent: it does not wait, or that is not known
 */
export function stateLook(
  kind: keyof typeof STATE_LOOKS,
  { status, waitReason = null }: { status: string; waitReason?: string | null | undefined },
): StateLook {
  const known = lookOf(STATE_LOOKS[kind], status);
  if (waitReason === null) return known;
  const waits = waitWords(kind, { status, waitReason });
  const needsDecision = (status === "WAITING" || status === "RETRYING") && isForPerson(waitReason);
  const mark = waitReason === "in doubt" ? "?" : "!";
  const base = needsDecision ? { ...known, mark, tone: "attention" as const } : known;
  if (ONLY_WAITS.has(status) || needsDecision) return { ...base, word: waits };
  return SAYS_IT.has(status) ? base : { ...base, word: `${known.word}: ${waits}` };
}

/** The look of a status in a table. A newer API may have statuses that are not in it: these are shown by name. Pure. */
export function lookOf(looks: Readonly<Record<string, StateLook>>, status: string): StateLook {
  const own = Object.hasOwn(looks, status) ? looks[status] : undefined;
  return own ?? look(status.toLowerCase().replaceAll("_", " "), "○", "quiet");
}

/** Statuses that say nothing besides the wait. */
const ONLY_WAITS: ReadonlySet<string> = new Set<PlanStatus | StepStatus>(["PENDING", "WAITING"]);
/** Statuses that say already what is waited for. */
const SAYS_IT: ReadonlySet<string> = new Set<PlanStatus | StepStatus>([
  "WAITING_APPROVAL",
  "RETRYING",
  "IN_DOUBT",
  "PAUSED",
  "READY",
]);

/**
 * What a state waits for, in words. Work that no worker holds waits for one: "limit" is then not the limit of a tool,
 * but that of the workers. Pure.
 */
export function waitWords(
  kind: keyof typeof STATE_LOOKS,
  { status, waitReason }: { status: string; waitReason: string },
): string {
  const worker = kind === "request" && status === "PLANNING" ? "planner" : "executor";
  // Of a plan that was never started nothing was paused.
  if (waitReason === "paused" && status === "READY") return "waits to be started";
  if (waitReason === "no worker") return `no ${worker} is alive`;
  if (waitReason === "backoff" && worker === "planner") return "waits for its model, which is away";
  if (waitReason === "limit" && kind !== "step" && status !== "WAITING")
    return `waits for ${worker === "planner" ? "a planner" : "an executor"} with a free slot`;
  return Object.hasOwn(WAIT_WORDS, waitReason) ? WAIT_WORDS[waitReason as WaitReason] : waitReason;
}
