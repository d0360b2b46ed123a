import type { RequestId } from "@planwright/plan";
import type { RecordedError } from "./errors.ts";

/** Most that the model calls of one request may take together; null: no limit. */
export interface ModelLimits {
  maxModelCalls: number | null;
  /** Of prompts and answers. */
  maxTokens: number | null;
  maxCostUsd: number | null;
}

/** What model calls took, or may take. */
export interface ModelSpending {
  modelCalls: number;
  tokens: number;
  /** Of models whose price is known. */
  costUsd: number;
}

/** Where a request stands with its limits. */
export interface ModelUse {
  /** By calls that have ended. */
  spent: ModelSpending;
  /** For calls under way, and for calls whose planner died: it is unknown what those took. */
  reserved: ModelSpending;
}

/**
 * One call of a chat model, failed tries included, with everything needed to see why a plan looks as it does.
 */
export interface ModelCallDocument {
  _id: string;
  requestId: RequestId;
  tenant: string;
  purpose: "draft" | "repair" | "fast-path" | "replan" | "answer";
  /** "provider:model", or "offline". */
  model: string;
  messages: { role: string; content: string }[];
  answer: string;
  finishReason: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Those of `inputTokens` that the provider had from an earlier call. */
  cachedInputTokens?: number | null;
  latencyMs: number;
  /** Null when the price of the model is not known. */
  costUsd: number | null;
  /**
   * What `costUsd` rests on: tokens as the provider counted them, our estimate, or no price at all. Absent:
   * no call of a model.
   */
  pricing?: "priced" | "estimated" | "unpriced";
  /** Try of this model for the same answer, from 1. */
  attempt?: number;
  /** Code of the failure for which the fallback model was asked; null for the first model. */
  fallbackFor?: string | null;
  /** Planning epoch of the claim that made the call. Absent: no call of a model. */
  epoch?: number;
  /**
   * SHA-256 of all that was asked, as it is kept: equal for the same question. Absent: no call of a model.
   */
  askDigest?: string;
  /** What was reserved before the call. */
  reserved?: ModelSpending;
  /** What the call counts for; null until it has ended. */
  spent?: ModelSpending | null;
  error: RecordedError | null;
  createdAt: Date;
  /** True when `answer` is word for word what came: nothing was redacted or cut. Absent: unknown. */
  isAnswerWhole?: boolean;
  /**
   * Null while the call is under way, and for good when its planner died. Absent: it was written when it had
   * ended.
   */
  endedAt?: Date | null;
}
