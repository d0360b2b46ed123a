import { DraftError, type DraftErrorCode } from "../draft/draft-error.ts";
import { BothModelsFailedError } from "../draft/model-error.ts";
import type { ModelCaller } from "./model-ask.ts";
import type { OneModel } from "./one-model.ts";

/**
 * Failures of the provider, not of the request: it cannot be reached, keeps failing or takes too long,
 * refuses the key, has no credit left, does not know the model, or is not at its address. Then the fallback
 * is called. A request that a model declined, filtered or answered badly is not sent to the fallback.
 */
const FALLBACK_CODES: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_UNREACHABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_UNAUTHORIZED",
  "MODEL_QUOTA_EXHAUSTED",
  "MODEL_NOT_FOUND",
  "MODEL_ENDPOINT_WRONG",
]);

const isUnavailable = (error: unknown): error is DraftError =>
  error instanceof DraftError && FALLBACK_CODES.has(error.code);

/**
 * Calls the first model, and the second when the first is not available. When neither is, the error has both
 * reasons.
 */
export function withFallback(first: OneModel, second: OneModel): ModelCaller {
  return {
    name: first.name,
    async ask(input) {
      try {
        return await first.ask(input, null);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        try {
          return await second.ask(input, error.code);
        } catch (again) {
          throw isUnavailable(again) ? new BothModelsFailedError(error, again) : again;
        }
      }
    },
  };
}
