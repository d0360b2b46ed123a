/** One error or warning about a plan. Messages are for people, and for models that repair the plan. */
export interface Diagnostic {
  /** From the closed list {@link DIAGNOSTIC_CODES}. */
  code: DiagnosticCode;
  /** An `error` keeps the plan from running; a `warning` does not. */
  severity: "error" | "warning";
  stepId?: string | undefined;
  /** Place in the plan document, such as `steps[2].arguments.authorId`. */
  path?: string | undefined;
  /** What is wrong, where, and what to do. */
  message: string;
  /** The nearest valid choice, ready to use. */
  suggestion?: string | undefined;
  /**
   * How many outputs of earlier runs it is based on, where no schema declares it: it may be wrong, and is
   * always a warning.
   */
  observedIn?: number | undefined;
}

/** Every code a diagnostic can carry. */
export const DIAGNOSTIC_CODES = [
  // The answer of a model
  "ANSWER_TRUNCATED", // cut off; closing its brackets would invent a plan
  "ANSWER_REFUSED", // the model refused, or the provider withheld the answer
  "ANSWER_DECLINED", // the model says in JSON why there is no plan, such as that no tool can do it
  "ANSWER_ASKS", // the model lacks a value; the message is a question for the user
  "ANSWER_AMBIGUOUS", // several plans, and it is not clear which is meant
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
  "ORDER_INVALID", // executionOrder names something that is not there, or contradicts a dependency
  "OUTPUT_UNKNOWN",
  // Fields
  "FIELD_UNKNOWN",
  "FIELD_MISSING",
  "FIELD_INVALID",
  "FIELD_CONFLICT", // two fields that say the same thing
  "FIELD_IGNORED", // a note about the plan, or an option that a model cannot choose
  "STEP_ID_INVALID",
  "STEP_ID_RENAMED", // the id is not allowed and was replaced, also in references
  "STEP_ID_DUPLICATE",
  "STEP_REPEATED", // a replanned step repeats a call that was made already
  // Tools
  "TOOL_NAME_INVALID",
  "TOOL_UNKNOWN",
  "TOOL_AMBIGUOUS", // several servers offer it
  "TOOL_DUPLICATE", // defined twice in the catalogue: the later definition counts
  "TOOL_RECURSIVE", // a plan that calls the tool that runs plans
  "TOOL_SCHEMA_UNUSABLE", // its input schema cannot be checked against
  "TOOL_SCHEMA_TYPE", // its input schema names types that JSON Schema does not know
  // Arguments
  "ARGUMENTS_NOT_JSON",
  "ARGUMENTS_NOT_OBJECT",
  "ARGUMENT_MISSING",
  "ARGUMENT_UNKNOWN",
  "ARGUMENT_UNDECLARED", // the schema allows it without declaring it
  "ARGUMENT_TYPE",
  "ARGUMENT_VALUE",
  "ARGUMENT_PLACEHOLDER",
  "ARGUMENT_DATE", // another day or moment than the words of the query mean
  "ARGUMENT_UNSOURCED", // a value that neither the query nor the tool gives; a warning is an assumption
  // Secrets
  "SECRET_INVALID", // begins like one and has no valid name
  "SECRET_MISPLACED", // not the whole value of an argument, so it is not put in
  "SECRET_EXPOSED", // looks like a credential itself, which a plan should only name
  "SECRET_UNSOURCED", // written by a model, and not named by the query
  // References
  "REFERENCE_UNKNOWN",
  "REFERENCE_AMBIGUOUS",
  "REFERENCE_MALFORMED",
  "REFERENCE_SPELLING", // meant as a reference, in a notation that this language does not have
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
  "STEP_TIMEOUT_CUT", // a step asks for more time than its tool's contract or the service allows
  "CONTRACT_UNREADABLE", // a declaration of the tool that cannot be read and does not count
  "CONTRACT_LIMIT_UNREACHABLE", // the plan lets fewer calls run at once than the tool
  // Conditions and forEach
  "CONDITION_INVALID",
  "CONDITION_STATUS_UNKNOWN",
  "FOREACH_ITEMS_NOT_LIST",
  "FOREACH_ALIAS_CONFLICT",
  "FOREACH_KEY_DUPLICATE",
  "FOREACH_MIN_SUCCESS", // more successes than items, or beside errors: stop
] as const;
/** Names what is wrong. */
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];
