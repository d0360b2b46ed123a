import type { ArgumentsPreview } from "../records/step-document.ts";
import type { LargeValue } from "./inline-value.ts";

const PREVIEW_BYTES = 1_024;

/**
 * What is kept of a value that is not: its size, and the first KiB of its JSON text, cut between two
 * characters.
 */
export function previewOf({ text, sizeBytes }: LargeValue): ArgumentsPreview {
  const beginning = Buffer.from(text.slice(0, PREVIEW_BYTES)).subarray(0, PREVIEW_BYTES);
  // As a stream the decoder holds back the bytes of a character that is not whole.
  return { sizeBytes, text: new TextDecoder().decode(beginning, { stream: true }) };
}
