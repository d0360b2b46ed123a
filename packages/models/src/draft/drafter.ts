import type {
  ContractProposal,
  Diagnostic,
  JsonObject,
  JsonValue,
  PlanningContext,
  ToolDescriptor,
} from "@planwright/plan";

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
   * model, and the end of the signal, are part of the result. Absent without a model. @throws the meter's errors
   */
  proposeContracts?(input: ContractInput): Promise<ProposedContracts>;
}

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

/** The form that an answer must have. */
export interface AnswerSchema {
  /** Letters, digits and underscores. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** A tool as a provider receives it; a model calls it by the provider's tool calling. */
export interface OfferedTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** A question to a model: the same for every model and every try. */
export interface Asked {
  messages: readonly SentMessage[];
  schema?: AnswerSchema | undefined;
  tools?: readonly OfferedTool[] | undefined;
}

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

/** A message as it was sent to a model, for the record of the call. */
export interface SentMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Tokens of one call as the provider counts them; null when it did not. */
export interface TokenUsage {
  inputTokens: number | null;
  outputTokens: number | null;
  /** Those of `inputTokens` that the provider has cached from an earlier call, and charges less for. */
  cachedInputTokens?: number | null;
}

/** A call that is about to be sent. */
export interface CallToCome extends Asked {
  /** "provider:model". */
  model: string;
  /** An estimate that is rarely too low. */
  promptTokens: number;
  /** Maximum of tokens that the answer may have. */
  maxOutputTokens: number;
  /** The try of this model for the same answer, from 1. */
  attempt: number;
  /** Code of the failure that made the fallback necessary; null for the first model. */
  fallbackFor: string | null;
}

/** How a call ended. */
export interface CallEnd {
  /** The text that arrived, complete or not. */
  text: string;
  usage: TokenUsage;
  finishReason: string | null;
  /** In milliseconds. */
  latencyMs: number;
  error: { code: string; message: string } | null;
  /**
   * What is known about the cost. "complete": the answer is complete. "none": the provider refused before it
   * answered. "unknown": the connection ended, and the number of generated tokens is unknown.
   */
  spent: "complete" | "none" | "unknown";
}

/** A recorded answer to an earlier call. */
export interface RecordedAnswer
  extends Pick<CallEnd, "text" | "usage" | "finishReason" | "latencyMs" | "error"> {
  /** The model that answered, "provider:model". */
  model: string;
}

/** Called before every call is sent and after it has ended. Keeps the records and the limits. */
export interface CallMeter {
  /** The tenant for which the calls are made: calls that wait for a slot take turns over the tenants. */
  tenant?: string | undefined;
  /**
   * A wait before another try that takes this long or longer, in milliseconds, is left to the caller: the call
   * fails instead. Default: every wait is waited for within the time limit of the call.
   */
  maxWaitMs?: number | undefined;
  /**
   * A recorded answer of one of these models to exactly this question, used instead of a call; null: call the
   * model. Each answer is used once. Only answers that {@link isAnswered} accepts. Absent: nothing is
   * recorded.
   */
  recorded?(asked: Asked, models: readonly string[]): RecordedAnswer | null;
  /**
   * Allows one call. The record is durable when this returns; only then the call is sent.
   * @throws the reason to refuse the call; the caller receives it unchanged
   */
  begin(call: CallToCome): Promise<OpenCall>;
}

/** A running call. */
export interface OpenCall {
  /**
   * Called with all the text that has arrived so far, each time that more arrives. It must be quick and must
   * not throw. Absent: no one watches.
   */
  arrived?(text: string): void;
  /** Called exactly once, unless the process dies. */
  end(outcome: CallEnd): Promise<void>;
}
