import type { Diagnostic, PlanningContext, ToolDescriptor } from "@planwright/plan";
import type { AnswerInput } from "./answer-input.ts";
import type { CallMeter } from "./call-meter.ts";
import type { ReplanRequest } from "./replan-request.ts";
import type { SentMessage } from "./sent-message.ts";
import type { TokenUsage } from "./token-usage.ts";

/** What the last draft was and what is wrong with it. */
export interface RepairRequest {
  /** The answer as the drafter gave it. */
  previous: string;
  /** The diagnostics that the next draft has to fix, and nothing else. */
  diagnostics: readonly Diagnostic[];
}

/** What a draft is made from. */
export interface DraftInput {
  /** The user's sentence: data, not instructions to the program. */
  query: string;
  /** The caller's time, place and facts, without secrets. Absent: the current day is unknown. */
  context?: PlanningContext | undefined;
  /** Tools that the plan may use, with unique names. */
  tools: readonly ToolDescriptor[];
  /** Present when an earlier draft is to be repaired. */
  repair?: RepairRequest | undefined;
  /** Present when a failed plan is to be replaced by a new one. */
  replan?: ReplanRequest | undefined;
  /**
   * Is told of every model call before it is sent, records it, and may refuse it. The offline drafter makes
   * no calls.
   */
  meter?: CallMeter | undefined;
  /** Aborts the call; the draft then rejects with MODEL_TIMEOUT or the signal's reason. */
  signal: AbortSignal;
}

/** An answer as raw text: it has not been parsed as a plan yet. */
export interface DraftResult {
  text: string;
  usage: TokenUsage;
  /** The provider's finish reason, such as "stop" or "length"; null when it gave none. */
  finishReason: string | null;
  /** From sending to the last byte, in milliseconds. */
  latencyMs: number;
  /** What was sent, system message first; empty for the offline drafter. */
  messages: SentMessage[];
  /**
   * Calls of offered tools, arguments as JSON text; absent when none were made. `text` then holds them too.
   */
  toolCalls?: { name: string; arguments: string }[];
  /** The model that answered, "provider:model"; with a fallback it may differ from the drafter's name. */
  model?: string;
}

/** Turns a sentence and a tool catalogue into the text of a plan. */
export interface Drafter {
  /** "provider:model", or "offline". */
  readonly name: string;
  readonly kind: "model" | "offline";
  /**
   * @throws {DraftError} with what was sent and received until then, MODEL_REQUIRED for a replan without a
   * model; what the meter throws
   */
  draft(input: DraftInput): Promise<DraftResult>;
  /**
   * One plain tool-calling request with a few tools, for requests that {@link directTools} accepts. Returns
   * the text of a plan; null when the model made no calls, left something out, or added what the user did not
   * say: the request then has to be planned. Absent without a model.
   * @throws {DraftError} like `draft`; what the meter throws
   */
  draftDirectly?(input: Omit<DraftInput, "repair" | "replan">): Promise<DraftResult | null>;
  /** The results of a plan, told in sentences. @throws {DraftError} like `draft` */
  answer(input: AnswerInput): Promise<DraftResult>;
}
