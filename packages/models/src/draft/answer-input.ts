import type { JsonValue } from "@planwright/plan";
import type { CallMeter } from "./call-meter.ts";

/** What an answer in words is made from: the request, and nothing but the outputs that it asked for. */
export interface AnswerInput {
  /** The user's sentence. */
  query: string;
  /** Requested outputs by step, in plan order; undefined for one that there is not, or that is too large to be read. */
  results: readonly { id: string; tool: string; output: JsonValue | undefined }[];
  /** Hears of every call of a model before it is sent, records it, and may forbid it. */
  meter?: CallMeter | undefined;
  /** Aborts the call. */
  signal: AbortSignal;
}
