import type { LargeValue } from "./inline-value.ts";

const PREVIEW_BYTES = 1_024;

/** The size of a value, and the first KiB of its JSON text, cut between two characters. */
export function previewOf({ text, sizeBytes }: Pick<LargeValue, "text" | "sizeBytes">): {
  sizeBytes: number;
  text: string;
} {
  const beginning = Buffer.from(text.slice(0, PREVIEW_BYTES)).subarray(0, PREVIEW_BYTES);
  // In stream mode the decoder leaves out the bytes of an incomplete character.
  return { sizeBytes, text: new TextDecoder().decode(beginning, { stream: true }) };
}
