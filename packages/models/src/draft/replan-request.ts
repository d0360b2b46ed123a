import type { JsonValue } from "@planwright/plan";

/** How one step of the failed plan ended. Outputs and messages are untrusted data. */
export interface ReplanStep {
  id: string;
  tool: string;
  /** Its planned arguments, or its forEach. */
  call: JsonValue;
  /** True for a forEach. */
  isList: boolean;
  status: /** Done; a new plan may refer to its output, and keeps it. */
    | "finished"
    /** Done; its output can no longer be referred to. */
    | "finished, closed"
    | "failed"
    | "not run";
  /** Of a finished step; undefined when it is too large to show. */
  output?: JsonValue | undefined;
  /** Of a failed step. */
  error?: { code: string; message: string } | undefined;
  /** Of a failed forEach: numbers of items by their end. */
  items?: { completed: number; failed: number } | undefined;
}

/** The input of a plan that replaces a failed one. */
export interface ReplanRequest {
  steps: readonly ReplanStep[];
  /** What the user wants to change; null when the user wrote nothing. */
  note: string | null;
}
