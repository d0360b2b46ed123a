import type { JsonValue } from "@planwright/plan";
import type { CallMeter } from "./call-meter.ts";

/** The input of an answer in words: the request and its requested outputs, nothing else. */
export interface AnswerInput {
  /** The user's sentence. */
  query: string;
  /**
   * Requested outputs by step, in plan order; undefined for one that does not exist or is too large to read.
   */
  results: readonly { id: string; tool: string; output: JsonValue | undefined }[];
  /** Called before every model call is sent; it records the call and may refuse it. */
  meter?: CallMeter | undefined;
  /** Aborts the call. */
  signal: AbortSignal;
}
