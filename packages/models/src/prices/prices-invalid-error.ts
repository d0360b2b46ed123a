import { CodedError } from "@planwright/plan";

/** The file of `MODEL_PRICES_FILE` cannot be read as prices. */
export class PricesInvalidError extends CodedError<{ reason: string }> {
  readonly code = "MODEL_PRICES_INVALID";
  readonly retryable = false;
  constructor(reason: string, cause: unknown) {
    super(
      `MODEL_PRICES_FILE must contain JSON such as {"openai:gpt-4o": {"input": 2.5, "cachedInput": 1.25, "output": 10}}, in dollars per million tokens: ${reason}`,
      { reason },
      { cause },
    );
  }
}
