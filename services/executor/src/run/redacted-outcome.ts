import type { Outcome } from "@planwright/engine";
import { redactJson, redactText } from "@planwright/runtime";

/**
 * An outcome whose error may be stored and shown: error texts of tools may contain addresses with passwords.
 * Outputs stay as they are, because other steps need them.
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
