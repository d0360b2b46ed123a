import { expect, test } from "vitest";
import { partsOf } from "./outputs.ts";

const MIB = 1_048_576;

test("a text of up to 256 KiB is one part", () => {
  expect(partsOf("")).toEqual([""]);
  const largest = "x".repeat(MIB / 4);
  expect(partsOf(largest)).toEqual([largest]);
  expect(partsOf(`${largest}x`).length).toBeGreaterThan(1);
  expect(partsOf(Buffer.from("")).length).toBe(1);
  expect(partsOf(Buffer.from(largest)).length).toBe(1);
  expect(partsOf(Buffer.from(`${largest}x`)).length).toBe(2);
});

test.each([
  ["one byte a character", "x".repeat(3 * MIB)],
  ["three bytes a character", "€".repeat(2 * MIB)],
  ["surrogate pairs at even positions", "🙂".repeat(4 * MIB)],
  ["surrogate pairs at odd positions", `a${"🙂".repeat(4 * MIB)}`],
])(
  "each part of a text with %s fits into a document, no character is cut, and the parts join to the text",
  (_, text) => {
    const parts = partsOf(text);
    expect(parts.join("") === text).toBe(true);
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual((3 * MIB) / 4);
      expect(/\p{Surrogate}/u.test(part)).toBe(false);
    }
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const cut = partsOf(Buffer.from(text));
    expect(Math.max(...cut.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(MIB / 4);
    expect(cut.map((part) => decoder.decode(part)).join("") === text).toBe(true);
  },
);
