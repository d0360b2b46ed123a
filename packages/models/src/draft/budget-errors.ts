import { DraftError } from "./draft-error.ts";

/** A limit on the model calls of one request, by its name in the API. */
export type ModelLimitName = "maxModelCalls" | "maxTokens" | "maxCostUsd";

/** Facts of a refused call. */
export interface BudgetFacts {
  limit: ModelLimitName;
  /** The limit of the request. */
  max: number;
  /** Used by earlier calls, including the maximum of calls with an unknown end. */
  used: number;
  /** The maximum that the next call may use. */
  needed: number;
  /** "provider:model" of the refused call. */
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

/** The price of a model is unknown, so a limit in dollars cannot be kept. The call was not sent. */
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
