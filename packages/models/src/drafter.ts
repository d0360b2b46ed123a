import type { Diagnostic, ToolDescriptor } from "@planwright/plan";

/** A message as it was sent to a model; kept for the record of the call. */
export interface SentMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Tokens of one call as the provider counts them; null where it did not say. */
export interface TokenUsage {
  inputTokens: number | null;
  outputTokens: number | null;
}

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
  /** Tools that the plan may use, with unique names. */
  tools: readonly ToolDescriptor[];
  /** Present when an earlier draft is to be repaired. */
  repair?: RepairRequest | undefined;
  /** Aborts the call; the draft then rejects with MODEL_TIMEOUT or the signal's reason. */
  signal: AbortSignal;
}

/** An answer. It is raw text: nobody has read it as a plan yet. */
export interface DraftResult {
  text: string;
  usage: TokenUsage;
  /** The provider's word, such as "stop" or "length"; null when it gave none. */
  finishReason: string | null;
  /** From sending to the last byte, in milliseconds. */
  latencyMs: number;
  /** What was sent, system message first; empty for the offline drafter. */
  messages: SentMessage[];
}

/** Turns a sentence and a tool catalogue into the text of a plan. */
export interface Drafter {
  /** "provider:model", or "offline". */
  readonly name: string;
  readonly kind: "model" | "offline";
  /** @throws {DraftError} a subclass, with what was sent and received as far as it came */
  draft(input: DraftInput): Promise<DraftResult>;
}
