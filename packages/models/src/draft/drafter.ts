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
  /** The findings, and nothing else, that the next draft is to take away. */
  diagnostics: readonly Diagnostic[];
}

/** What a draft is made from. */
export interface DraftInput {
  /** The user's sentence: data, not instructions to the program. */
  query: string;
  /** Now and here, of the caller, with facts without secrets. Absent: the current day is unknown. */
  context?: PlanningContext | undefined;
  /** Tools that the plan may use, with unique names. */
  tools: readonly ToolDescriptor[];
  /** Present when an earlier draft is to be repaired. */
  repair?: RepairRequest | undefined;
  /** Present when a plan is to be made anew from what became of it. */
  replan?: ReplanRequest | undefined;
  /** Hears of every call of a model before it is sent, records it, and may forbid it; the offline drafter makes none. */
  meter?: CallMeter | undefined;
  /** Aborts the call; the draft then rejects with MODEL_TIMEOUT or the signal's reason. */
  signal: AbortSignal;
}

/** An answer. It is raw text: it has not been read as a plan yet. */
export interface DraftResult {
  text: string;
  usage: TokenUsage;
  /** The provider's word, such as "stop" or "length"; null when it gave none. */
  finishReason: string | null;
  /** From sending to the last byte, in milliseconds. */
  latencyMs: number;
  /** What was sent, system message first; empty for the offline drafter. */
  messages: SentMessage[];
  /** Calls of offered tools, arguments as JSON text; absent when none were made. `text` then holds them too. */
  toolCalls?: { name: string; arguments: string }[];
  /** Who answered, "provider:model": the fallback model is another than the drafter's own. */
  model?: string;
}

/** Turns a sentence and a tool catalogue into the text of a plan. */
export interface Drafter {
  /** "provider:model", or "offline". */
  readonly name: string;
  readonly kind: "model" | "offline";
  /** @throws {ModelRequiredError} for a replan without a model; @throws {DraftError} a subclass, with what was sent and received as far as it came; what the meter throws */
  draft(input: DraftInput): Promise<DraftResult>;
  /**
   * One plain tool-calling request over a few tools, for requests that {@link directTools} lets through. The text of a plan; null when the
   * model made no calls, or when they leave something out or hold what the user did not say: the request then has to be planned. Absent without a model.
   * @throws {DraftError} as `draft`; what the meter throws
   */
  draftDirectly?(input: Omit<DraftInput, "repair" | "replan">): Promise<DraftResult | null>;
  /** The results of a plan in words. @throws {DraftError} likewise; @throws {ModelRequiredError} without a model */
  answer(input: AnswerInput): Promise<DraftResult>;
}
