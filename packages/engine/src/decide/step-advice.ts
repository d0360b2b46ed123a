import { type Effect, needsAcceptance } from "../state/effect.ts";
import type { StepErrorCode } from "../state/protocol.ts";

/** What to do about a step that failed. */
export interface StepAdvice {
  /** What the code means, as a sentence. */
  why: string;
  /** What to do first: the beginning of a sentence, to be followed by the last action, such as a command. */
  instruction: string;
  /** What to do, as a complete sentence. */
  remedy: string;
  /**
   * retry: run the failed steps again. correct: the same call would fail again, so the plan has to change.
   * resolve: settle the call first. repeat: the call may have acted, so a rerun has to name its step.
   */
  action: "retry" | "correct" | "resolve" | "repeat";
}

const ARGUMENTS = "The call was not made: the tool does not accept these arguments.";
const SKIPPED = "It did not run because of another step.";

/** By code. A new code of the engine does not compile until it is listed here. */
const ADVICE: Readonly<Record<StepErrorCode, Omit<StepAdvice, "remedy">>> = {
  TOOL_FAILED: {
    why: "The tool was called and refused; these are its own words.",
    instruction: "Correct what it names",
    action: "correct",
  },
  TOOL_TIMEOUT: {
    why: "The tool gave no answer in the time that the step has.",
    instruction:
      "See why {server} is slow, or give the step a longer timeoutMs in a new plan, up to what its contract and MAX_STEP_TIMEOUT_MS allow; then",
    action: "retry",
  },
  TOOL_UNREACHABLE: {
    why: "The tool's server could not be reached: nothing was called.",
    instruction: "Bring {server} back; then",
    action: "retry",
  },
  TOOL_CONNECTION_LOST: {
    why: "The call was sent and its answer was lost.",
    instruction: "See what happened in {server}; then",
    action: "retry",
  },
  ANSWER_LOST: {
    why: "The answer to an earlier call was lost, and no later call found out its result.",
    instruction: "Check in {server} whether the call happened, and settle it",
    action: "resolve",
  },
  TOOL_NOT_FOUND: {
    why: "The server no longer offers this tool.",
    instruction: "Bring the tool back to {server}; then",
    action: "retry",
  },
  TOOL_UNAUTHORIZED: {
    why: "The server refused the executor's credentials: nothing was called.",
    instruction: "Correct the credentials of {server} in the executor's servers file and restart it; then",
    action: "retry",
  },
  TOOL_RATE_LIMITED: {
    why: "The tool's server accepts no more calls right now: nothing was called.",
    instruction: "Wait until {server} accepts calls again; then",
    action: "retry",
  },
  TOOL_RESULT_INVALID: {
    why: "The tool's answer cannot be used as an output.",
    instruction: "Have the tool of {server} corrected; then",
    action: "retry",
  },
  TOOL_RESULT_TOO_LARGE: {
    why: "The tool was called, and its answer is larger than allowed.",
    instruction: "Ask the tool for less, such as one page",
    action: "correct",
  },
  TOOL_CHANGED: {
    why: "The tool has changed since the plan was made.",
    instruction: "Look at the current tool",
    action: "correct",
  },
  REFERENCE_UNRESOLVED: {
    why: "It refers to a step that has no output.",
    instruction: "Correct the reference",
    action: "correct",
  },
  REFERENCE_MISSING: {
    why: "It refers to a field that the output of the other step does not have.",
    instruction: "Look at that output, and correct the reference",
    action: "correct",
  },
  REFERENCES_TOO_LARGE: {
    why: "The outputs that it refers to are together larger than an executor may hold.",
    instruction:
      "Refer to fewer outputs, ask their tools for less, or raise OUTPUT_MEMORY_BYTES of the executors; then",
    action: "retry",
  },
  ARGUMENTS_INVALID: {
    why: ARGUMENTS,
    instruction: "Correct the argument",
    action: "correct",
  },
  OUTPUT_UNRESOLVED: {
    why: "A requested output refers to a value that no step returned.",
    instruction: "Look at the outputs of the steps, and correct the reference",
    action: "correct",
  },
  CONDITION_INVALID: {
    why: "Its condition could not be evaluated.",
    instruction: "Correct the condition",
    action: "correct",
  },
  CONTRACT_FIELD_MISSING: {
    why: "The call was not made: its tool needs a field that the output of an earlier step does not have.",
    instruction: "Look at that output, and correct the plan or the tool",
    action: "correct",
  },
  ITEMS_INVALID: {
    why: "Its items are not a list, are too many, or have duplicate keys.",
    instruction: "Correct the items",
    action: "correct",
  },
  ITEMS_TOO_LARGE: {
    why: "Its items were called. Their results together are too large for one output, and each item keeps its own output.",
    instruction: "Ask the tool for less for each item, or split the list",
    action: "correct",
  },
  ITEMS_FAILED: {
    why: "More of its items failed than the list allows; those that completed are kept.",
    instruction: "See its items; then",
    action: "retry",
  },
  DEPENDENCY_FAILED: { why: SKIPPED, instruction: "Once that step is fixed", action: "retry" },
  CONDITION_FALSE: {
    why: "Its condition was false.",
    instruction: "If it should have run, correct the condition",
    action: "correct",
  },
  PLAN_FAILED: { why: SKIPPED, instruction: "Once that step is fixed", action: "retry" },
  CANCELLED: {
    why: "The plan was cancelled before this could run or end.",
    instruction: "To run the remaining steps",
    action: "retry",
  },
  DEADLINE_EXCEEDED: {
    why: "The plan's deadline passed; running calls were stopped.",
    instruction: "See why that took so long, or raise PLAN_TIMEOUT_MS of the executors; then",
    action: "retry",
  },
  APPROVAL_REFUSED: {
    why: "An operator refused the call; nothing was called.",
    instruction: "To ask for approval once more",
    action: "retry",
  },
  APPROVAL_EXPIRED: {
    why: "The call was neither approved nor refused in time (policy approvalTimeoutMs); nothing was called.",
    instruction: "To ask for approval once more",
    action: "retry",
  },
  APPROVAL_STALE: {
    why: "Nothing was called: the tool or the arguments changed after the approval.",
    instruction: "To ask for approval of the current call",
    action: "retry",
  },
  SECRET_UNKNOWN: {
    why: "The executor does not have the secret that the call needs: nothing was called.",
    instruction: "Give the secret to the executors; then",
    action: "retry",
  },
  SECRET_FORBIDDEN: {
    why: "The servers file does not allow the tool to get this secret: nothing was called.",
    instruction: 'If it should, list the secret under "secrets" of {server} and restart the executors; then',
    action: "retry",
  },
  ADDRESS_FORBIDDEN: {
    why: "The address of the tool's server is not allowed: nothing was called.",
    instruction:
      "Correct the address of {server}, or OUTBOUND_ADDRESSES of the executors, and restart them; then",
    action: "retry",
  },
  SETTLED_AS_FAILED: {
    why: "The answer of the tool was lost, and an operator settled the call as failed; the message is the operator's.",
    instruction: "If the call is needed after all",
    action: "retry",
  },
  SETTLED_AS_NOT_DONE: {
    why: "The answer of the tool was lost, and after the end of the plan an operator settled that the call did not happen.",
    instruction: "To call it again",
    action: "retry",
  },
  REPEAT_NOT_ACCEPTED: {
    why: "The same call of an earlier version acted or may have acted, so it was not made again.",
    instruction: "See whether it happened; if it should happen again,",
    action: "repeat",
  },
  EXECUTOR_LOST: {
    why: "The executor died during the call: it is unknown whether the call happened.",
    instruction: "Check in {server} whether the call happened, and settle it",
    action: "resolve",
  },
  POISONED: {
    why: "Every executor that claimed the plan died or was blocked.",
    instruction: "Find the reason in the logs of the executors and fix it; then",
    action: "retry",
  },
};

/** What an error that the tool itself answered says about its effect. */
const WHY_BY_EFFECT: Readonly<Record<Effect, string>> = {
  none: "The tool refused the call, and nothing happened; these are its own words.",
  possible: "The tool answered with an error, and may have acted before it; these are its own words.",
  done: "The tool acted, and then answered with an error; these are its own words.",
};

/**
 * Advice for a code; an unknown code gets the advice for TOOL_FAILED. Pure.
 * @param server - name of the server that offers the step's tool, if known
 * @param unit - the failed unit, if known: a call that may have acted is only repeated when its step is named
 */
export function stepAdvice(code: string, server?: string, unit?: FailedUnit): StepAdvice {
  const known = Object.entries(ADVICE).find(([name]) => name === code);
  const advice = known?.[1] ?? ADVICE.TOOL_FAILED;
  const place = server === undefined ? "its server" : `"${server}"`;
  const isToolsOwn = advice === ADVICE.TOOL_FAILED;
  const why = isToolsOwn && unit?.effect ? WHY_BY_EFFECT[unit.effect] : advice.why;
  if (unit && needsAcceptance(unit) && (isToolsOwn || advice.action === "retry")) {
    const instruction = `Check in ${place} whether the call acted; if another call is right,`;
    return { why, instruction, action: "repeat", remedy: remedyOf(instruction, "repeat") };
  }
  const instruction = advice.instruction.replace("{server}", place);
  return { ...advice, why, instruction, remedy: remedyOf(instruction, advice.action) };
}

/** The facts about a failed unit that its advice follows from. */
export type FailedUnit = Parameters<typeof needsAcceptance>[0];

/** State of a unit that has an error and has not ended: the advice for its code does not fit then. */
type OpenUnitState = "in doubt" | "tried again";

/**
 * What to do about an error while its unit has not ended: a unit in doubt is settled first, and a unit that
 * is tried again needs no rerun. Pure.
 */
export function remedyWhile(unitState: OpenUnitState, code: string): string {
  if (unitState === "in doubt")
    return remedyOf(ADVICE.EXECUTOR_LOST.instruction.replace("{server}", "its server"), "resolve");
  const { instruction, action } = stepAdvice(code);
  const hasFirstAction = action === "retry" && instruction.endsWith("; then");
  return hasFirstAction
    ? instruction.replace(/; then$/, "; it is retried automatically.")
    : "It is retried automatically.";
}

/** Names no operation: a person reads it at a page or a terminal, and the diagnosis has the operation as data. */
function remedyOf(instruction: string, action: StepAdvice["action"]): string {
  if (action === "correct")
    return `${instruction}; then rerun the step with other arguments, or change the plan.`;
  if (action === "resolve") return `${instruction}.`;
  if (action === "repeat")
    return `${instruction} rerun the plan and accept that this step is called once more.`;
  return `${instruction}${instruction.endsWith("; then") ? "" : ","} rerun the plan.`;
}
