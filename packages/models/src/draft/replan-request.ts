import type { JsonValue } from "@planwright/plan";

/** How one step of the failed plan ended. Outputs and messages are untrusted data. */
export interface ReplanStep {
  id: string;
  tool: string;
  /** Its arguments as planned, or its forEach. */
  call: JsonValue;
  /** True for a forEach. */
  isList: boolean;
  status: /** Done; a new plan may refer to its output, and keeps it. */
    | "finished"
    /** Done; its output can no longer be referred to. */
    | "finished, closed"
    | "failed"
    | "not run";
  /** Of a finished step; undefined when it is too large to be shown. */
  output?: JsonValue | undefined;
  /** Of a step that failed. */
  error?: { code: string; message: string } | undefined;
  /** Of a forEach that failed: items by how they ended. */
  items?: { completed: number; failed: number } | undefined;
}

/** What a new plan is made from after one has failed. */
export interface ReplanRequest {
  steps: readonly ReplanStep[];
  /** What the user wants done differently; null where the user said nothing. */
  note: string | null;
}
