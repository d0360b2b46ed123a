/** What to do about a request that could not be planned. */
export interface PlanningAdvice {
  /** What the code means, as a sentence. */
  why: string;
  /** What to do first: the beginning of a sentence, which a command can follow. */
  say: string;
  /** What to do, as a whole sentence. */
  remedy: string;
  /**
   * again: the same sentence may work. other: use other words, or submit a plan. tools: look at the tools.
   */
  action: "again" | "other" | "tools";
}

const SETTINGS: Omit<PlanningAdvice, "why" | "remedy"> = {
  say: "Correct the planner's MODEL settings and restart it; then",
  action: "again",
};

const ADVICE: Readonly<Record<string, Omit<PlanningAdvice, "remedy">>> = {
  MODEL_REFUSED: {
    why: "The model declined to plan this; nothing was executed.",
    say: "Say it in other words, or hand in the plan yourself",
    action: "other",
  },
  MODEL_CONTENT_FILTERED: {
    why: "The provider's filter withheld the answer; nothing was executed.",
    say: "Say it in other words, or hand in the plan yourself",
    action: "other",
  },
  MODEL_UNAUTHORIZED: { why: "The provider refused the planner's key.", ...SETTINGS },
  MODEL_KEY_MISSING: { why: "The planner has no key for its model.", ...SETTINGS },
  MODEL_QUOTA_EXHAUSTED: { why: "The account of the planner's model has nothing left.", ...SETTINGS },
  MODEL_NOT_FOUND: { why: "The provider does not know the model.", ...SETTINGS },
  MODEL_SETTING_INVALID: { why: "The planner's MODEL names nothing known.", ...SETTINGS },
  MODEL_REQUIRED: {
    why: "The planner has no model, and this takes one.",
    say: "Start the planner with MODEL set to a language model, such as openai:gpt-4o; then",
    action: "again",
  },
  MODEL_REQUEST_INVALID: { why: "The provider refused the request itself.", ...SETTINGS },
  MODEL_UNREACHABLE: {
    why: "The model's provider could not be reached, or failed; nothing was executed.",
    say: "See whether the provider can be reached from the planner; then",
    action: "again",
  },
  MODEL_ENDPOINT_WRONG: {
    why: "Something answered at the address of the model, and it is not the API of a model; nothing was executed.",
    say: "Correct the base URL of the planner's model and restart the planner; then",
    action: "again",
  },
  MODEL_RATE_LIMITED: {
    why: "The model's provider takes no more calls right now.",
    say: "Wait a little; then",
    action: "again",
  },
  MODEL_TIMEOUT: {
    why: "The model gave no complete answer in time.",
    say: "Try once more, or raise MODEL_TIMEOUT_MS of the planner",
    action: "again",
  },
  MODEL_ANSWER_TRUNCATED: {
    why: "The answer was cut off, and half a plan is none.",
    say: "Ask for fewer steps, or raise MODEL_MAX_OUTPUT_TOKENS of the planner",
    action: "other",
  },
  MODEL_ANSWER_UNREADABLE: {
    why: "What the model answered holds no plan, also not after repair.",
    say: "Try once more, or say it in other words",
    action: "again",
  },
  NOT_UNDERSTOOD: {
    why: "The planner has no model: it works by rules and understands simple sentences only; nothing was executed.",
    say: "Start the planner with MODEL set to a language model, or say it as a use of one of the tools; then",
    action: "again",
  },
  NOT_PLANNABLE: {
    why: "The model sees no way to do this with the tools that there are; nothing was executed.",
    say: "See what the tools can do and ask for that",
    action: "tools",
  },
  NO_TOOLS: {
    why: "No executor has published any tools.",
    say: "Start an executor with a servers file, see that it lists the tools, then send it again",
    action: "tools",
  },
  VALUE_MISSING: {
    why: "The sentence lacks a value that a tool needs.",
    say: "Say it with that value",
    action: "other",
  },
  PLAN_INVALID: {
    why: "The plan was checked before anything ran: nothing was executed.",
    say: "Correct what its diagnostics name and send it again",
    action: "other",
  },
  BUDGET_EXCEEDED: {
    why: "The calls of models for this request reached their limit; nothing was executed.",
    say: "Ask for less at once, or raise the limit that the cause names (limits of the request, and REQUEST_MAX_… of the API); then",
    action: "again",
  },
  MODEL_UNPRICED: {
    why: "A limit in dollars is set, and the price of the model is not known.",
    say: "Give the planner the model's price (MODEL_PRICES_FILE), or limit tokens instead; then",
    action: "again",
  },
  REPLAN_UNCHANGED: {
    why: "Made anew, the plan was one that had already failed.",
    say: "Mend what failed, or hand in a corrected plan yourself",
    action: "other",
  },
  POISONED: {
    why: "Every planner that took the request died; nothing was executed.",
    say: "Find the reason in the logs of the planners and mend it; then",
    action: "again",
  },
};

const OTHERWISE: Omit<PlanningAdvice, "remedy"> = {
  why: "No plan was made; nothing was executed.",
  say: "Change the sentence as the cause says and send it again",
  action: "other",
};

/** Advice for an error code of planning; unknown codes, as of a newer planner, get general advice. Pure. */
export function planningAdvice(code: string): PlanningAdvice {
  const advice = (Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined) ?? OTHERWISE;
  const { say } = advice;
  return { ...advice, remedy: say.endsWith("; then") ? `${say} send it again.` : `${say}.` };
}
