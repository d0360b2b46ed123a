import type { Outcome } from "@planwright/engine";
import { redactJson, redactText } from "@planwright/runtime";

/**
 * An outcome whose error may be stored and shown: what tools say of a failure may hold addresses with passwords. Outputs stay as they
 * are, for other steps need them.
 */
export function redactedOutcome(outcome: Outcome): Outcome {
  if (outcome.type !== "failed") return outcome;
  const { message, data, ...error } = outcome.error;
  return {
    ...outcome,
    error: {
      ...error,
      message: redactText(message),
      ...(data === undefined ? {} : { data: redactJson(data, { maxDepth: 100 }) }),
    },
  };
}
