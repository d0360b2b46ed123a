import type { ContractProposal, Diagnostic, PlanningContext, ToolDescriptor } from "@planwright/plan";
import type { AnswerInput } from "./answer-input.ts";
import type { CallMeter } from "./call-meter.ts";
import type { ReplanRequest } from "./replan-request.ts";
import type { SentMessage } from "./sent-message.ts";
import type { TokenUsage } from "./token-usage.ts";

/** The last draft and its diagnostics. */
export interface RepairRequest {
  /** The answer exactly as the drafter returned it. */
  previous: string;
  /** The diagnostics that the next draft has to fix, and nothing else. */
  diagnostics: readonly Diagnostic[];
}

/** Input of a draft. */
export interface DraftInput {
  /** The user's sentence: data, not instructions to the program. */
  query: string;
  /** The caller's time, place and facts, without secrets. Absent: the current day is unknown. */
  context?: PlanningContext | undefined;
  /** Tools that the plan may use, with unique names. */
  tools: readonly ToolDescriptor[];
  /** Present when an earlier draft has to be repaired. */
  repair?: RepairRequest | undefined;
  /** Present when a new plan has to replace a failed one. */
  replan?: ReplanRequest | undefined;
  /**
   * Called before every model call is sent; it records the call and may refuse it. The offline drafter makes
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
  /** Milliseconds from sending the call to the last byte. */
  latencyMs: number;
  /** What was sent, system message first; empty for the offline drafter. */
  messages: SentMessage[];
  /**
   * Calls of offered tools with arguments as JSON text; absent without calls. `text` then contains them too.
   */
  toolCalls?: { name: string; arguments: string }[];
  /** The model that answered, "provider:model". With a fallback it may differ from the drafter's name. */
  model?: string;
}

/** Input of {@link Drafter.proposeContracts}: the tools of one server. */
export interface ContractInput extends Pick<DraftInput, "meter" | "signal"> {
  tools: readonly ToolDescriptor[];
}

/** What a model proposes for the contracts of tools. */
export interface ProposedContracts {
  /** Each is valid for its field; nothing else is known about it. */
  proposals: ContractProposal[];
  /** Tools that the answered questions were about. */
  asked: number;
  /** Proposals that were dropped: about other tools or fields, or with values that a field cannot have. */
  unusable: number;
  /** Why the rest of the tools was not asked about; null when nothing failed. */
  error: { code: string; message: string } | null;
}

/** Turns a sentence and a tool catalogue into the text of a plan. */
export interface Drafter {
  /** "provider:model", or "offline". */
  readonly name: string;
  readonly kind: "model" | "offline";
  /**
   * Drafts a plan.
   * @throws {DraftError} with everything that was sent and received; MODEL_REQUIRED for a replan without a
   * model; the meter's errors
   */
  draft(input: DraftInput): Promise<DraftResult>;
  /**
   * One direct tool-calling request with a few tools, for requests that {@link directTools} accepts. Returns
   * the text of a plan. Null when the request has to be planned: the model made no calls, left something out,
   * or added values that the user did not give. Absent without a model.
   * @throws {DraftError} like `draft`; the meter's errors
   */
  draftDirectly?(input: Omit<DraftInput, "repair" | "replan">): Promise<DraftResult | null>;
  /** Writes the results of a plan in sentences. @throws {DraftError} like `draft` */
  answer(input: AnswerInput): Promise<DraftResult>;
  /**
   * Proposes contracts for tools of which the servers file says nothing, in at most four calls. A failure of the
   * model is part of the result. Absent without a model. @throws the meter's errors; the signal's reason
   */
  proposeContracts?(input: ContractInput): Promise<ProposedContracts>;
}
