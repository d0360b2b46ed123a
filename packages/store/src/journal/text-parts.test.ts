import { expect, test } from "vitest";
import { textParts } from "./outputs.ts";

const MIB = 1_048_576;

test("a text of up to 1 MiB is one part", () => {
  expect(textParts("")).toEqual([""]);
  const largest = "x".repeat(MIB);
  expect(textParts(largest)).toEqual([largest]);
  expect(textParts(`${largest}x`).length).toBeGreaterThan(1);
});

test.each([
  ["one byte a character", "x".repeat(3 * MIB)],
  ["three bytes a character", "€".repeat(2 * MIB)],
  ["surrogate pairs at even positions", "🙂".repeat(4 * MIB)],
  ["surrogate pairs at odd positions", `a${"🙂".repeat(4 * MIB)}`],
])(
  "each part of a text with %s fits into a document, no character is cut, and the parts join to the text",
  (_, text) => {
    const parts = textParts(text);
    expect(parts.join("") === text).toBe(true);
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(3 * MIB);
      expect(/\p{Surrogate}/u.test(part)).toBe(false);
    }
  },
);
