import type { StepErrorCode } from "../state/protocol.ts";

/** What to do about a step that failed. `server` is the one that offers its tool. */
export interface StepAdvice {
  /** What the code means, as a sentence. */
  why: string;
  /**
   * What to do first, as a sentence without its end, for what does the rest, such as a command, to follow.
   */
  say: string;
  /** What to do, as a whole sentence. */
  remedy: string;
  /**
   * retry: let what failed run again. correct: the same call would fail again, so the plan has to change.
   * resolve: say what became of the call first.
   */
  action: "retry" | "correct" | "resolve";
}

const ARGUMENTS = "The call was never made: what would have been sent is not what the tool takes.";
const SKIPPED = "It did not run because of another step.";
const CORRECT = "Correct the plan, or the sentence, and send it again";

/** By code. A code that the engine learns does not compile until it has a place here. */
const ADVICE: Readonly<Record<StepErrorCode, Omit<StepAdvice, "remedy">>> = {
  TOOL_FAILED: {
    why: "The tool was called and refused; these are its own words.",
    say: "Correct what it names and send it again",
    action: "correct",
  },
  TOOL_TIMEOUT: {
    why: "The tool gave no answer in the time that the step has.",
    say: "See why {server} is slow, or give the step a longer timeoutMs in a new plan, up to what its contract and MAX_STEP_TIMEOUT_MS allow; then",
    action: "retry",
  },
  TOOL_UNREACHABLE: {
    why: "No connection to the tool's server came about: nothing happened there.",
    say: "Bring {server} back; then",
    action: "retry",
  },
  TOOL_CONNECTION_LOST: {
    why: "The call was sent and its answer was lost.",
    say: "See what happened in {server}; then",
    action: "retry",
  },
  ANSWER_LOST: {
    why: "The answer to an earlier call was lost, and no later one could tell what became of it.",
    say: "Look in {server} whether the call happened, and say so",
    action: "resolve",
  },
  TOOL_NOT_FOUND: {
    why: "The server no longer offers this tool.",
    say: "Bring the tool back to {server}; then",
    action: "retry",
  },
  TOOL_UNAUTHORIZED: {
    why: "The server refused the executor's credentials: nothing happened there.",
    say: "Correct the credentials of {server} in the executor's servers file and restart it; then",
    action: "retry",
  },
  TOOL_RATE_LIMITED: {
    why: "The tool's server takes no more calls right now: nothing happened there.",
    say: "Wait until {server} takes calls again; then",
    action: "retry",
  },
  TOOL_RESULT_INVALID: {
    why: "The tool answered with something that cannot be an output.",
    say: "Have the tool of {server} corrected; then",
    action: "retry",
  },
  TOOL_RESULT_TOO_LARGE: {
    why: "The tool did its work and answered with more than is kept.",
    say: "Ask the tool for less, such as a page, in a new plan",
    action: "correct",
  },
  TOOL_CHANGED: {
    why: "The tool is not the one any more that the plan was made for.",
    say: "Look at the tool as it is now and send the sentence or the plan again",
    action: "correct",
  },
  REFERENCE_UNRESOLVED: {
    why: "It refers to a step that gave no output.",
    say: CORRECT,
    action: "correct",
  },
  REFERENCE_MISSING: {
    why: "It refers to a field that the output of the other step does not have.",
    say: "Look at that output, correct the reference and send the plan again",
    action: "correct",
  },
  REFERENCES_TOO_LARGE: {
    why: "The outputs that it refers to are larger together than an executor may hold.",
    say: "Refer to fewer outputs, ask their tools for less, or raise OUTPUT_MEMORY_BYTES of the executors; then",
    action: "retry",
  },
  ARGUMENTS_INVALID: { why: ARGUMENTS, say: "Correct the argument and send it again", action: "correct" },
  OUTPUT_UNRESOLVED: {
    why: "A requested output refers to something that no step gave.",
    say: "Look at the outputs of the steps, correct the reference and send the plan again",
    action: "correct",
  },
  CONDITION_INVALID: { why: "Its condition could not be evaluated.", say: CORRECT, action: "correct" },
  ITEMS_INVALID: {
    why: "What it was to run over is not a list, too long, or names items twice.",
    say: CORRECT,
    action: "correct",
  },
  ITEMS_TOO_LARGE: {
    why: "Its items were called; together their results are larger than one output may be, and each item keeps its own.",
    say: "Ask the tool for less for each item, or make several lists of it, in a new plan",
    action: "correct",
  },
  ITEMS_FAILED: {
    why: "Too many of its items failed; those that completed are kept.",
    say: "See its items; then",
    action: "retry",
  },
  DEPENDENCY_FAILED: { why: SKIPPED, say: "Once that is mended", action: "retry" },
  CONDITION_FALSE: { why: "Its condition was false.", say: CORRECT, action: "correct" },
  PLAN_FAILED: { why: SKIPPED, say: "Once that is mended", action: "retry" },
  CANCELLED: {
    why: "The plan was cancelled before this could run or end.",
    say: "To let what is left run after all",
    action: "retry",
  },
  DEADLINE_EXCEEDED: {
    why: "The plan had no more time; what was running was stopped.",
    say: "See what took so long; then",
    action: "retry",
  },
  APPROVAL_REFUSED: {
    why: "An operator refused the call; nothing was called.",
    say: "To ask for approval once more",
    action: "retry",
  },
  APPROVAL_STALE: {
    why: "Nothing was called: the tool, or what would be sent, changed after it was approved.",
    say: "To ask for approval of what it is now",
    action: "retry",
  },
  SECRET_UNKNOWN: {
    why: "The executor does not have the secret that the call needs: nothing was called.",
    say: "Give the secret to the executors; then",
    action: "retry",
  },
  SECRET_FORBIDDEN: {
    why: "The servers file does not let the tool have this secret: nothing was called.",
    say: 'If it is meant to, name the secret under "secrets" of {server} and restart the executors; then',
    action: "retry",
  },
  ADDRESS_FORBIDDEN: {
    why: "The tool's server is at an address that must not be reached: nothing happened there.",
    say: "Correct the address of {server}, or OUTBOUND_ADDRESSES of the executors, and restart them; then",
    action: "retry",
  },
  SETTLED_AS_FAILED: {
    why: "The answer of the tool was lost, and an operator said that the call failed: these are the operator's words.",
    say: "If it is wanted after all",
    action: "retry",
  },
  SETTLED_AS_NOT_DONE: {
    why: "The answer of the tool was lost, and an operator said after the end of the plan that the call did not happen.",
    say: "To have it called again",
    action: "retry",
  },
  EXECUTOR_LOST: {
    why: "The executor died during the call: it is not known whether it happened.",
    say: "Look in {server} whether it did, and say so",
    action: "resolve",
  },
  POISONED: {
    why: "Every executor that took the plan died or was blocked.",
    say: "Find the reason in the logs of the executors and mend it; then",
    action: "retry",
  },
};

/**
 * Advice for a code; a tool may report codes of its own. Pure.
 * @param server - that offers the step's tool, where it is known
 */
export function stepAdvice(code: string, server?: string): StepAdvice {
  const known = Object.entries(ADVICE).find(([name]) => name === code);
  const advice = known?.[1] ?? ADVICE.TOOL_FAILED;
  const say = advice.say.replace("{server}", server === undefined ? "its server" : `"${server}"`);
  return { ...advice, say, remedy: remedyOf(say, advice.action) };
}

/** How the unit of an error stands, where that is not over: what its code advises is then not what helps. */
export type UnitStanding = "in doubt" | "tried again";

/**
 * What to do about a code while its unit is not over: one in doubt is settled first, and one that is tried
 * again needs no rerun. Pure.
 */
export function remedyWhile(standing: UnitStanding, code: string): string {
  if (standing === "in doubt")
    return remedyOf(ADVICE.EXECUTOR_LOST.say.replace("{server}", "its server"), "resolve");
  const { say, action } = stepAdvice(code);
  const isOutside = action === "retry" && say.endsWith("; then");
  return isOutside
    ? say.replace(/; then$/, "; it is tried again by itself.")
    : "It is tried again by itself.";
}

function remedyOf(say: string, action: StepAdvice["action"]): string {
  if (action === "correct") return `${say}.`;
  if (action === "resolve") return `${say} with resolveInDoubt.`;
  return `${say}${say.endsWith("; then") ? "" : ","} rerun the plan.`;
}
