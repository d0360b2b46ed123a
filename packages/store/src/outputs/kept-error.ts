import type { StepError } from "@planwright/engine";
import { measureValue } from "./inline-value.ts";

/**
 * The error, without the data that its tool added if these are too large: they are stored with every attempt.
 */
export function keptError(error: StepError): StepError {
  if (error.data === undefined || measureValue(error.data).fits) return error;
  const { data: _, ...kept } = error;
  return kept;
}
