import { expect, test } from "vitest";
import { textParts } from "./outputs.ts";

const partsOf = (text: string): string[] => textParts(text, Buffer.byteLength(text));
const MIB = 1_048_576;

test("a text of up to 12 MiB is one part", () => {
  const largest = "x".repeat(12 * MIB);
  expect(partsOf(largest)).toEqual([largest]);
  expect(partsOf(`${largest}x`).length).toBeGreaterThan(1);
});

test.each([
  ["one byte a character", "x".repeat(13 * MIB)],
  ["three bytes a character", "€".repeat(5 * MIB)],
  ["surrogate pairs at even positions", "🙂".repeat(4 * MIB)],
  ["surrogate pairs at odd positions", `a${"🙂".repeat(4 * MIB)}`],
])(
  "each part of a text with %s fits into a document, no character is cut, and the parts join to the text",
  (_, text) => {
    const parts = partsOf(text);
    expect(parts.join("") === text).toBe(true);
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(12 * MIB);
      expect(/\p{Surrogate}/u.test(part)).toBe(false);
    }
  },
);
