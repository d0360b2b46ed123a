/** One diagnostic of a plan, as the API returns it. */
export interface Diagnostic {
  code: string;
  severity: "error" | "warning";
  stepId: string | null;
  /** Path in the document, such as `steps[2].arguments.authorId`. */
  path: string | null;
  message: string;
  suggestion: string | null;
}
