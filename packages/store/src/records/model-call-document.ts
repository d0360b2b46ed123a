import type { RequestId } from "@planwright/plan";
import type { RecordedError } from "./errors.ts";

/** Limits of all model calls of one request together; null: no limit. */
export interface ModelLimits {
  maxModelCalls: number | null;
  /** Tokens of prompts and answers. */
  maxTokens: number | null;
  maxCostUsd: number | null;
}

/** Amounts that model calls spent, or may spend. */
export interface ModelSpending {
  modelCalls: number;
  tokens: number;
  /** Cost of models whose price is known. */
  costUsd: number;
}

/** The use of a request's limits. */
export interface ModelUse {
  spent: ModelSpending;
  /** Amounts reserved for running calls, and for calls whose planner died: their real amounts are unknown. */
  reserved: ModelSpending;
}

/** One call of a chat model, also a failed one, with all data that explain the plan. */
export interface ModelCallDocument {
  _id: string;
  /** Of a question about contracts: the id of that, for there is no request. */
  requestId: RequestId;
  tenant: string;
  purpose: "draft" | "repair" | "fast-path" | "replan" | "answer" | "contracts";
  /** "provider:model", or "offline". */
  model: string;
  messages: { role: string; content: string }[];
  answer: string;
  finishReason: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Part of `inputTokens` that the provider had cached from an earlier call. */
  cachedInputTokens?: number | null;
  latencyMs: number;
  /** Null when the price of the model is unknown. */
  costUsd: number | null;
  /** How `costUsd` was computed: by the provider's counts, our estimate, or not. Absent: no call of a model. */
  pricing?: "priced" | "estimated" | "unpriced";
  /** Number of the try of this model for the same answer, from 1. */
  attempt?: number;
  /** Code of the failure that made the fallback model necessary; null for the first model. */
  fallbackFor?: string | null;
  /** Planning epoch of the claim that made the call. Absent: no call of a model. */
  epoch?: number;
  /** SHA-256 of the complete prompt as it is stored: equal for equal prompts. Absent: no call of a model. */
  askDigest?: string;
  /** Amount that was reserved before the call. */
  reserved?: ModelSpending;
  /** Amount that the call counts; null until it has ended. */
  spent?: ModelSpending | null;
  error: RecordedError | null;
  createdAt: Date;
  /** True when `answer` is the complete answer: nothing was redacted or cut. Absent: unknown. */
  isAnswerComplete?: boolean;
  /** Null while the call runs, or its planner died. Absent: the call was recorded after its end. */
  endedAt?: Date | null;
}

/** A model call whose end was recorded, for a planner that needs its answer again. */
export type EndedModelCall = Pick<
  ModelCallDocument,
  | "purpose"
  | "model"
  | "askDigest"
  | "answer"
  | "finishReason"
  | "inputTokens"
  | "outputTokens"
  | "cachedInputTokens"
  | "latencyMs"
  | "error"
>;
