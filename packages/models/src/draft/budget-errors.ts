import { DraftError } from "./draft-error.ts";

/** A limit on the model calls of one request, by the name that clients give it. */
export type ModelLimitName = "maxModelCalls" | "maxTokens" | "maxCostUsd";

/** Why a call was refused. */
export interface BudgetFacts {
  limit: ModelLimitName;
  /** The limit of the whole request. */
  max: number;
  /** Used by earlier calls, including what calls with an unknown end may have used. */
  used: number;
  /** The most that the next call may use. */
  needed: number;
  /** "provider:model" that was to be called. */
  model: string;
}

/** The next call might exceed the limit of the request. It was not sent. */
export class BudgetExceededError extends DraftError<BudgetFacts> {
  readonly code = "BUDGET_EXCEEDED";
  readonly retryable = false;
  constructor(facts: BudgetFacts) {
    const { limit, model } = facts;
    const [max, used, needed] = [facts.max, facts.used, facts.needed].map((each) => amount(limit, each));
    super(
      `The limit ${limit} of this request is ${max}: ${used} used so far, and the next call of ${model} may take ${needed} more. Send the query again with a higher ${limit} in limits, or one that needs fewer tools and steps.`,
      facts,
    );
  }
}

/** A limit in dollars cannot be kept for a model of unknown price. Nothing was sent. */
export class ModelUnpricedError extends DraftError<{ model: string; maxCostUsd: number }> {
  readonly code = "MODEL_UNPRICED";
  readonly retryable = false;
  constructor(facts: { model: string; maxCostUsd: number }) {
    super(
      `maxCostUsd of this request is ${facts.maxCostUsd}, and the price of ${facts.model} is not known; name it in the file of MODEL_PRICES_FILE, or limit maxTokens instead`,
      facts,
    );
  }
}

function amount(limit: ModelLimitName, value: number): string {
  switch (limit) {
    case "maxModelCalls":
      return String(value);
    case "maxTokens":
      return `${value} tokens`;
    case "maxCostUsd":
      return `$${Number(value.toPrecision(4))}`;
  }
}
