import { type FoldedPlanning, type StepRun, sumOf } from "@planwright/engine";
import type { JsonValue, Plan } from "@planwright/plan";
import type { RecordedError } from "../records/errors.ts";
import type {
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  ModelUse,
} from "../records/model-call-document.ts";
import type { PlannedDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** The result of a plan that has ended. */
export interface PlanRecord {
  plan: PlannedDocument;
  /** Units in plan order. */
  units: StepRun[];
  /** Outputs of completed units by key; those over 256 KiB are left out. */
  outputs: Map<string, JsonValue>;
  /** Earlier versions, newest first, at most 20. */
  earlier: Plan[];
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

/** A claim on a request to plan; `request.planning.work` is the work. A stale epoch matches nothing. */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
  /**
   * Ended calls of earlier claims of the same work (the same first plan, replan or answer). Calls of the
   * latest claim come first; calls of one claim are in order. Only calls with a complete answer. A planner
   * that uses an answer removes its call from the list.
   */
  earlierCalls: EndedModelCall[];
}

/** A model call that is about to be sent. */
export type ModelCallBegin = Pick<ModelCallDocument, "model" | "messages"> & {
  purpose: Exclude<ModelCallDocument["purpose"], "contracts">;
} & Required<Pick<ModelCallDocument, "attempt" | "fallbackFor" | "reserved">> &
  Pick<ModelCallDocument, "askDigest">;

/** A model that cannot be reached, and how long to wait for it. */
export interface ModelAway {
  error: RecordedError;
  /** Wait before the next try, in milliseconds. @param tries - number of such waits in a row, from 1 */
  pauseMs: (tries: number) => number;
  /** Wait that the provider asked for, in milliseconds: a shorter one is useless. */
  requestedMs: number;
  /** How long the model may be away before planning fails, in milliseconds. */
  unreachableMs: number;
}

/** How a model call ended. */
export type ModelCallEnd = Pick<
  ModelCallDocument,
  "answer" | "finishReason" | "inputTokens" | "outputTokens" | "latencyMs" | "costUsd" | "error"
> &
  Required<Pick<ModelCallDocument, "cachedInputTokens" | "pricing">> &
  Pick<ModelCallDocument, "isAnswerComplete"> & { spent: ModelSpending };

/* Limits and use of the model calls of one request. Pure: the journal has the amounts. */

/** A limit that the next call might exceed, with the amounts. */
export interface LimitExceeded {
  limit: keyof ModelLimits;
  max: number;
  /** Spent and reserved so far. */
  used: number;
  /** Maximum of the next call. */
  needed: number;
}

/** No calls, tokens or costs. */
export const NO_SPENDING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** The use before the first call. */
export const NO_USE: ModelUse = { spent: NO_SPENDING, reserved: NO_SPENDING };

/** The use by the folded model calls of a request. */
export function modelUseOf({ spent, calls }: Pick<FoldedPlanning, "spent" | "calls">): ModelUse {
  return { spent, reserved: sumOf(calls.values()) };
}

/**
 * The first limit that another call could exceed, if all reserved amounts are spent; null when there is none.
 */
export function exceededLimit(
  limits: ModelLimits | undefined,
  { spent, reserved }: ModelUse,
  next: ModelSpending,
): LimitExceeded | null {
  for (const { limit, unit } of LIMITS) {
    const max = limits?.[limit] ?? null;
    const used = spent[unit] + reserved[unit];
    const needed = next[unit];
    if (max !== null && round(used + needed) > max) return { limit, max, used: round(used), needed };
  }
  return null;
}

const LIMITS = [
  { limit: "maxModelCalls", unit: "modelCalls" },
  { limit: "maxTokens", unit: "tokens" },
  { limit: "maxCostUsd", unit: "costUsd" },
] as const;

/** Rounds to a billionth, to remove errors of binary fractions. */
const round = (value: number) => Math.round(value * 1e9) / 1e9;
