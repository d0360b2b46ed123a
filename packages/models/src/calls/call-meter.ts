import type { SentMessage } from "../sent-message.ts";
import type { TokenUsage } from "../token-usage.ts";

/** A call that is about to be sent. */
export interface CallToCome {
  /** "provider:model". */
  model: string;
  messages: readonly SentMessage[];
  /** An estimate, rather too many. */
  promptTokens: number;
  /** Most tokens that the answer may have. */
  maxOutputTokens: number;
  /** Of this model for the same answer, from 1. */
  attempt: number;
  /** Code of the failure for which this model stands in for the first one; null for the first one itself. */
  fallbackFor: string | null;
}

/** How a call ended. */
export interface CallEnd {
  /** What came, however far. */
  text: string;
  usage: TokenUsage;
  finishReason: string | null;
  /** In milliseconds. */
  latencyMs: number;
  error: { code: string; message: string } | null;
  /**
   * What is known of the cost: "complete": the answer came to its end; "none": the provider refused before it answered; "unknown": the
   * connection ended, and nobody knows how much was generated.
   */
  spent: "complete" | "none" | "unknown";
}

/** Hears of every call before it is sent and when it has ended: keeps the records, and the limits. */
export interface CallMeter {
  /**
   * Allows one call. Durable when it returns: only then anything is sent.
   * @throws whatever forbids the call; it goes on to the caller unchanged
   */
  begin(call: CallToCome): Promise<OpenCall>;
}

/** A call under way. */
export interface OpenCall {
  /** Called exactly once, unless the process dies. */
  end(outcome: CallEnd): Promise<void>;
}
