/** What to do about a request that could not be planned. */
export interface PlanningAdvice {
  /** What the code means, as a sentence. */
  why: string;
  /** What to do first: the beginning of a sentence, which a command can follow. */
  instruction: string;
  /** What to do, as a complete sentence. */
  remedy: string;
  /**
   * again: the same request may succeed. other: use other words, or submit a plan. tools: check the available
   * tools.
   */
  action: "again" | "other" | "tools";
}

const SETTINGS: Omit<PlanningAdvice, "why" | "remedy"> = {
  instruction: "Correct the planner's MODEL settings and restart it; then",
  action: "again",
};

const ADVICE: Readonly<Record<string, Omit<PlanningAdvice, "remedy">>> = {
  MODEL_REFUSED: {
    why: "The model declined to plan this; nothing was executed.",
    instruction: "Use other words, or submit a plan yourself",
    action: "other",
  },
  MODEL_CONTENT_FILTERED: {
    why: "The provider's filter withheld the answer; nothing was executed.",
    instruction: "Use other words, or submit a plan yourself",
    action: "other",
  },
  MODEL_UNAUTHORIZED: { why: "The provider refused the planner's API key.", ...SETTINGS },
  MODEL_KEY_MISSING: { why: "The planner has no API key for its model.", ...SETTINGS },
  MODEL_QUOTA_EXHAUSTED: {
    why: "The quota or credit of the planner's model account is used up.",
    ...SETTINGS,
  },
  MODEL_NOT_FOUND: { why: "The provider does not know the model.", ...SETTINGS },
  MODEL_SETTING_INVALID: { why: "The planner's MODEL names no known provider or model.", ...SETTINGS },
  MODEL_REQUIRED: {
    why: "The planner has no model, and this request needs one.",
    instruction: "Start the planner with MODEL set to a language model, such as openai:gpt-4o; then",
    action: "again",
  },
  MODEL_REQUEST_INVALID: { why: "The provider refused the request itself.", ...SETTINGS },
  MODEL_UNREACHABLE: {
    why: "The model's provider could not be reached, or failed; nothing was executed.",
    instruction: "Check that the planner can reach the provider; then",
    action: "again",
  },
  MODEL_ENDPOINT_WRONG: {
    why: "The server at the model's address is not the API of a model; nothing was executed.",
    instruction: "Correct the base URL of the planner's model and restart the planner; then",
    action: "again",
  },
  MODEL_RATE_LIMITED: {
    why: "The model's provider accepts no more calls at the moment.",
    instruction: "Wait a little; then",
    action: "again",
  },
  MODEL_TIMEOUT: {
    why: "The model gave no complete answer in time.",
    instruction: "Try again, or raise MODEL_TIMEOUT_MS of the planner",
    action: "again",
  },
  MODEL_ANSWER_TRUNCATED: {
    why: "The model's answer was cut off, so the plan is incomplete.",
    instruction: "Raise MODEL_MAX_OUTPUT_TOKENS of the planner, or ask for fewer steps; then",
    action: "again",
  },
  MODEL_ANSWER_UNREADABLE: {
    why: "The model's answer holds no valid plan, even after a repair.",
    instruction: "Try again, or use other words",
    action: "again",
  },
  NOT_UNDERSTOOD: {
    why: "The planner has no model: it works by rules and understands simple sentences only; nothing was executed.",
    instruction:
      "Start the planner with MODEL set to a language model, or say it as a use of one of the tools; then",
    action: "again",
  },
  NOT_PLANNABLE: {
    why: "The model found no way to do this with the available tools; nothing was executed.",
    instruction: "Look at what the tools can do and ask for that",
    action: "tools",
  },
  NO_TOOLS: {
    why: "No executor has published any tools.",
    instruction: "Start an executor with a servers file, see that it lists the tools, then send it again",
    action: "tools",
  },
  VALUE_MISSING: {
    why: "The sentence does not give a value that a tool needs.",
    instruction: "Add the value to the sentence",
    action: "other",
  },
  PLAN_INVALID: {
    why: "The plan was checked before anything ran: nothing was executed.",
    instruction: "Correct what the diagnostics name and send it again",
    action: "other",
  },
  BUDGET_EXCEEDED: {
    why: "The model calls for this request reached their limit; nothing was executed.",
    instruction:
      "Ask for less at once, or raise the limit that the cause names (limits of the request, and REQUEST_MAX_… of the API); then",
    action: "again",
  },
  MODEL_UNPRICED: {
    why: "A limit in dollars is set, and the price of the model is not known.",
    instruction: "Give the planner the model's price (MODEL_PRICES_FILE), or limit tokens instead; then",
    action: "again",
  },
  REPLAN_UNCHANGED: {
    why: "The new plan is the same as one that has already failed.",
    instruction: "Correct what failed, or submit a corrected plan yourself",
    action: "other",
  },
  PLAN_TOO_LARGE: {
    why: "The new plan would carry over more items than can be stored with one version; nothing of it was stored.",
    instruction: "Submit what is left to do as a plan of its own",
    action: "other",
  },
  POISONED: {
    why: "Every planner that worked on the request crashed; nothing was executed.",
    instruction: "Find the cause in the logs of the planners and fix it; then",
    action: "again",
  },
};

const OTHERWISE: Omit<PlanningAdvice, "remedy"> = {
  why: "No plan was made; nothing was executed.",
  instruction: "Change the sentence as the cause suggests and send it again",
  action: "other",
};

/** Advice for an error code of planning; unknown codes, as of a newer planner, get general advice. Pure. */
export function planningAdvice(code: string): PlanningAdvice {
  const advice = (Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined) ?? OTHERWISE;
  const { instruction } = advice;
  return {
    ...advice,
    remedy: instruction.endsWith("; then") ? `${instruction} send it again.` : `${instruction}.`,
  };
}

/**
 * What failed: a first plan, before which nothing was executed; a replan; the results in words of a plan that has
 * ended; the last call of a model for which planning waits; or something that is recorded, such as one call.
 */
export type ProblemPlace = "first plan" | "replan" | "answer" | "wait" | "event";

/** What {@link ADVICE} says about a first plan only. */
const NOTHING_DONE = /[;:] nothing (of it )?was (executed|stored)\.$/;

/**
 * What an error of planning means and what to do, in complete sentences. Only a request of which nothing was executed
 * is ever sent again. Pure.
 */
export function remedyOfProblem(code: string, place: ProblemPlace): string {
  const { why, instruction, remedy } = planningAdvice(code);
  if (place === "first plan") return `${why} ${remedy}`;
  if (code === "PLAN_NOT_COMPLETED")
    return "The plan did not complete, so there are no results to describe: its steps say why.";
  const cause = Object.hasOwn(ADVICE, code) ? `${why.replace(NOTHING_DONE, ".")} ` : "";
  switch (place) {
    case "replan":
      return `${cause}The steps that completed are kept: do not send the request again. Rerun those that did not complete, or replan the rest once the cause is gone.`;
    case "answer":
      return `${cause}Only the results in words are missing: read the outputs of the plan, and do not send the request again.`;
    case "wait": {
      const first =
        cause !== "" && instruction.endsWith("; then") ? instruction.replace(/; then$/, ". ") : "";
      return `${cause}${first}It continues by itself: do not send the request again.`;
    }
    case "event":
      return `${cause}The request shows what followed from it.`;
  }
}

/** A duration for people: "85 ms", "2.3 s", "4 min 5 s", "2 h 10 min". */
export function durationText(durationMs: number): string {
  const whole = Math.max(0, Math.round(durationMs));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How long something took, as every duration of a plan or a step is told: its own time, and beside it what it waited
 * for people: "2.3 s", "2.3 s, and 15 min 0 s waiting for people".
 * @param waitedForPeopleMs - null or absent: not known, such as from an older API
 */
export function ownTimeText(ownMs: number, waitedForPeopleMs: number | null | undefined): string {
  const waited = waitedForPeopleMs ? `, and ${durationText(waitedForPeopleMs)} waiting for people` : "";
  return `${durationText(ownMs)}${waited}`;
}

const SIZE_UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** "840 B", "12.3 KiB", "4.0 GiB", in bytes of 1,024. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), SIZE_UNITS.length);
  return `${(bytes / 1_024 ** power).toFixed(1)} ${SIZE_UNITS[power - 1]}`;
}

/**
 * A number for people, with separators: "1,000", "2.5".
 * @param decimals - digits after the point, at most; default 0
 */
export function numberText(value: number, decimals = 0): string {
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}

/** "1 step", "2 steps", "1,000 steps". */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "3 %", rounded down, so that 100 % is all; "under 1 %" for less. @param part - at least 1 */
export function shareText(part: number, whole: number): string {
  const percent = Math.floor((part / whole) * 100);
  return percent === 0 ? "under 1 %" : `${percent} %`;
}

/** A count that stops at a bound: "12", "9,999", "10,000+". */
export function boundedText(count: number, bound: number): string {
  return count >= bound ? `${numberText(bound)}+` : numberText(count);
}

/** Stands in suggested commands and actions for a value that only the user knows. */
export const PLACEHOLDER = "…";

/** True for a value in which a placeholder was left, as a value or as the name of a field. Pure. */
export function hasPlaceholder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === PLACEHOLDER;
  return Object.hasOwn(value, PLACEHOLDER) || Object.values(value).some(hasPlaceholder);
}

/** Most tools that a title names. */
const MAX_NAMED = 4;

/**
 * The name of a request for people, in lists and headings: its sentence, or the tools of its plan in plan order,
 * such as "searchItems → reserveStock". Repeats in a row are named once; more than four tools end with "→ …".
 * @param query - the sentence; null for a plan that was submitted without one
 * @param tools - the tool of each step; none of a plan that is not valid
 */
export function requestTitle(query: string | null, tools: readonly string[]): string {
  if (query !== null) return query;
  const named = tools.filter((tool, index) => tool !== tools[index - 1]);
  if (named.length === 0) return "a plan that is not valid";
  return [...named.slice(0, MAX_NAMED), ...(named.length > MAX_NAMED ? ["…"] : [])].join(" → ");
}
