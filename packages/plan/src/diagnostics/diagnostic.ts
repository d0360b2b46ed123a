/** One error or warning about a plan. Messages are for people, and for models that repair the plan. */
export interface Diagnostic {
  /** From the closed list {@link DIAGNOSTIC_CODES}. */
  code: DiagnosticCode;
  /** An `error` keeps the plan from running; a `warning` does not. */
  severity: "error" | "warning";
  stepId?: string | undefined;
  /** Path in the plan document, such as `steps[2].arguments.authorId`. */
  path?: string | undefined;
  /** The error, its location, and what to do. */
  message: string;
  /** The nearest valid choice, ready to use. */
  suggestion?: string | undefined;
  /**
   * Number of outputs of earlier runs on which the diagnostic is based, when no schema declares it. It may be
   * wrong, so it is always a warning.
   */
  observedIn?: number | undefined;
}

/** Every code a diagnostic can carry. */
export const DIAGNOSTIC_CODES = [
  // The answer of a model
  "ANSWER_TRUNCATED", // cut off; closing its brackets would invent a plan
  "ANSWER_REFUSED", // the model refused, or the provider withheld the answer
  "ANSWER_DECLINED", // the model gives in JSON a reason why there is no plan, such as a missing tool
  "ANSWER_ASKS", // the model lacks a value; the message is a question for the user
  "ANSWER_AMBIGUOUS", // several plans, and it is unclear which one counts
  // The document
  "PLAN_NOT_JSON",
  "PLAN_SHAPE",
  "PLAN_EMPTY",
  "PLAN_VERSION_UNKNOWN",
  "POLICY_INVALID",
  "LIMITS_INVALID",
  "LIMIT_STEPS",
  "LIMIT_ITEMS",
  "LIMIT_BYTES",
  "LIMIT_DEPTH",
  "ORDER_INVALID", // executionOrder contains an unknown name, or contradicts a dependency
  "OUTPUT_UNKNOWN",
  // Fields
  "FIELD_UNKNOWN",
  "FIELD_MISSING",
  "FIELD_INVALID",
  "FIELD_CONFLICT", // two fields with the same meaning
  "FIELD_IGNORED", // a note about the plan, or an option that a model cannot choose
  "STEP_ID_INVALID",
  "STEP_ID_RENAMED", // the id is invalid and was replaced, also in references
  "STEP_ID_DUPLICATE",
  "STEP_REPEATED", // a replanned step repeats an earlier call
  // Tools
  "TOOL_NAME_INVALID",
  "TOOL_UNKNOWN",
  "TOOL_AMBIGUOUS", // several servers offer it
  "TOOL_DUPLICATE", // two definitions in the catalogue: the later one counts
  "TOOL_RECURSIVE", // a plan that calls the tool that runs plans
  "TOOL_SCHEMA_UNUSABLE", // its input schema cannot be checked against
  "TOOL_SCHEMA_TYPE", // its input schema uses types that JSON Schema does not define
  // Arguments
  "ARGUMENTS_NOT_JSON",
  "ARGUMENTS_NOT_OBJECT",
  "ARGUMENT_MISSING",
  "ARGUMENT_UNKNOWN",
  "ARGUMENT_UNDECLARED", // the schema allows it without declaring it
  "ARGUMENT_TYPE",
  "ARGUMENT_VALUE",
  "ARGUMENT_PLACEHOLDER",
  "ARGUMENT_DATE", // differs from the day or moment that the words of the query mean
  "ARGUMENT_UNSOURCED", // a value that is neither in the query nor from the tool; a warning means an assumption
  // Secrets
  "SECRET_INVALID", // begins like a secret, but has no valid name
  "SECRET_MISPLACED", // not the complete value of an argument, so it is not inserted
  "SECRET_EXPOSED", // the value looks like a credential; a plan should only name the secret
  "SECRET_UNSOURCED", // a model wrote it, and the query does not name it
  // References
  "REFERENCE_UNKNOWN",
  "REFERENCE_AMBIGUOUS",
  "REFERENCE_MALFORMED",
  "REFERENCE_SPELLING", // a reference in a foreign notation
  "REFERENCE_FORBIDDEN",
  "REFERENCE_SELF",
  "REFERENCE_FIELD_UNKNOWN",
  "REFERENCE_TYPE",
  // Dependencies
  "DEPENDENCY_UNKNOWN",
  "DEPENDENCY_SELF",
  "DEPENDENCY_IGNORED",
  "DEPENDENCY_INSERTED",
  "DEPENDENCY_ADDED",
  "CYCLE",
  "CYCLE_BROKEN",
  "CONTRACT_DEPENDENCY_ABSENT",
  "CONTRACT_FIELD_ABSENT",
  "CONTRACT_BATCH_TOO_LARGE", // a list has more items than one call of the tool takes
  "STEP_TIMEOUT_CUT", // a step's timeout is longer than its tool's contract or the service allows
  "CONTRACT_UNREADABLE", // a declaration of the tool is unreadable and ignored
  "CONTRACT_LIMIT_UNREACHABLE", // the plan allows fewer concurrent calls than the tool
  // Conditions and forEach
  "CONDITION_INVALID",
  "CONDITION_STATUS_UNKNOWN",
  "FOREACH_ITEMS_NOT_LIST",
  "FOREACH_ALIAS_CONFLICT",
  "FOREACH_KEY_DUPLICATE",
  "FOREACH_MIN_SUCCESS", // more successes than items, or used together with errors: stop
] as const;
/** The kind of a diagnostic. */
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];
