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
