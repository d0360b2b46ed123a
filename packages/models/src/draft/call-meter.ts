import type { Asked } from "./asked.ts";
import type { TokenUsage } from "./token-usage.ts";

/** A call that is about to be sent. */
export interface CallToCome extends Asked {
  /** "provider:model". */
  model: string;
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
   * connection ended, and it is unknown how much was generated.
   */
  spent: "complete" | "none" | "unknown";
}

/** What a model answered to a call that was made before. */
export interface RecordedAnswer
  extends Pick<CallEnd, "text" | "usage" | "finishReason" | "latencyMs" | "error"> {
  /** Who answered, "provider:model". */
  model: string;
}

/** Hears of every call before it is sent and when it has ended: keeps the records, and the limits. */
export interface CallMeter {
  /**
   * An answer of one of these models to exactly this, which is used in place of a call; null: ask. Each is given once. Only what
   * {@link isAnswered} holds. Absent: there never is one.
   */
  recorded?(asked: Asked, models: readonly string[]): RecordedAnswer | null;
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
