import type { Asked } from "./asked.ts";
import type { TokenUsage } from "./token-usage.ts";

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
