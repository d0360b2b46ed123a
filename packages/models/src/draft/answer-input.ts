import type { JsonValue } from "@planwright/plan";
import type { CallMeter } from "./call-meter.ts";

/** What an answer in words is made from: the request and the outputs that it asked for, nothing else. */
export interface AnswerInput {
  /** The user's sentence. */
  query: string;
  /**
   * Requested outputs by step, in plan order; undefined for one that does not exist or is too large to read.
   */
  results: readonly { id: string; tool: string; output: JsonValue | undefined }[];
  /** Is told of every model call before it is sent, records it, and may refuse it. */
  meter?: CallMeter | undefined;
  /** Aborts the call. */
  signal: AbortSignal;
}
