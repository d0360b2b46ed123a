/** One diagnostic of a plan, as the API gives it. */
export interface Finding {
  code: string;
  severity: "error" | "warning";
  stepId: string | null;
  /** Place in the document, such as `steps[2].arguments.authorId`. */
  path: string | null;
  message: string;
  suggestion: string | null;
}
