import { expect, test } from "vitest";
import { AnswerTooLargeError } from "../errors/api-error.ts";
import { jsonBytes, stringifyInSlices } from "./answer-bytes.ts";

const pace = async <T>(run: () => T | Promise<T>): Promise<T> => run();
const VALUE = {
  text: `é🙂"\n`,
  at: new Date(0),
  list: [1, null, true, -0.5, [], {}],
  left: undefined,
  large: Array.from({ length: 2_000 }, (_, index) => ({ index, text: "x".repeat(300) })),
  long: "y".repeat(400_000),
};

test("a text made in slices equals that of JSON.stringify", async () => {
  const text = await stringifyInSlices(VALUE, { maxBytes: 10_000_000, pace });
  expect(text === JSON.stringify(VALUE)).toBe(true);
});

test("the size of a value is that of its text without escapes", () => {
  const size = Buffer.byteLength(JSON.stringify(VALUE));
  expect(jsonBytes(VALUE, 10_000_000)).toBeGreaterThanOrEqual(size * 0.99);
  expect(jsonBytes(VALUE, 10_000_000)).toBeLessThanOrEqual(size * 1.01);
  expect(jsonBytes(VALUE, 1_000)).toBeGreaterThan(1_000);
});

test("a text that escapes make too large is refused", async () => {
  const escaped = { text: ["\u0001".repeat(100_000), "\u0001".repeat(100_000)] };
  const made = stringifyInSlices(escaped, { maxBytes: 400_000, pace });
  await expect(made).rejects.toThrow(AnswerTooLargeError);
});
