import type { StepError } from "@planwright/engine";
import { measureValue } from "./inline-value.ts";

/**
 * An error without what its tool added, when that is too large to stand here: it is told with every attempt.
 */
export function keptError(error: StepError): StepError {
  if (error.data === undefined || measureValue(error.data).fits) return error;
  const { data: _, ...kept } = error;
  return kept;
}
