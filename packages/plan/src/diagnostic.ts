/** One finding about a plan. Messages are for people and for models that repair. */
export interface Diagnostic {
  /** From the closed list {@link DiagnosticCode}. */
  code: DiagnosticCode;
  /** An `error` keeps the plan from running; a `warning` does not. */
  severity: "error" | "warning";
  stepId?: string | undefined;
  /** Place in the plan document, such as `steps[2].arguments.authorId`. */
  path?: string | undefined;
  /** What is wrong, where, and what to do. */
  message: string;
  /** The nearest valid choice, ready to be put in. */
  suggestion?: string | undefined;
}

/** Every code a diagnostic can carry. */
export const DIAGNOSTIC_CODES = [] as const;
export type DiagnosticCode = string;
