import type { StepError } from "@planwright/engine";
import { escapeHalves } from "@planwright/plan";
import { MAX_INLINE_BYTES, measureValue } from "./inline-value.ts";

/**
 * The error as it is stored with every attempt. Halves of characters (lone surrogates), which MongoDB would
 * replace, are escapes in its message. Data that the tool added and that an entry cannot hold unchanged are kept as
 * their JSON text, and left out when they are too large.
 */
export function keptError(error: StepError): StepError {
  const { data, ...told } = error;
  const kept = { ...told, message: escapeHalves(told.message) };
  if (data === undefined) return kept;
  const measured = measureValue(data);
  if (measured.fits) return { ...kept, data };
  return measured.sizeBytes <= MAX_INLINE_BYTES ? { ...kept, data: measured.text } : kept;
}
