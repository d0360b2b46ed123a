import type { JsonValue } from "@planwright/plan";

/** What became of one step of the plan that failed. Outputs and messages are of strangers. */
export interface ReplanStep {
  id: string;
  tool: string;
  /** Its arguments as planned, or its forEach. */
  call: JsonValue;
  /** True for a forEach. */
  isList: boolean;
  status: /** Done; a new plan may refer to its output, and keeps it. */
    | "finished"
    /** Done; its output cannot be referred to any more. */
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

/** What a plan is to be made anew from. */
export interface ReplanRequest {
  steps: readonly ReplanStep[];
  /** What the user says is to be done differently; null without a word. */
  note: string | null;
}
