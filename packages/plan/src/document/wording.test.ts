import { expect, test } from "vitest";
import { boundedText, countText, numberText, shareText } from "./planning-advice.ts";

test.each([
  [1, 1_000, "under 1 %"],
  [1, 100, "1 %"],
  [1, 3, "33 %"],
  [999, 1_000, "99 %"],
  [5, 5, "100 %"],
])("%d of %d is %s", (part, whole, text) => {
  expect(shareText(part, whole)).toBe(text);
});

test.each([
  [0, "0"],
  [9_999, "9,999"],
  [10_000, "10,000+"],
])("a count of %d with the bound 10,000 is %s", (count, text) => {
  expect(boundedText(count, 10_000)).toBe(text);
});

test.each([
  [1, "1 step"],
  [999, "999 steps"],
  [1_000, "1,000 steps"],
  [1_234_567, "1,234,567 steps"],
])("a count of %d steps is %s", (count, text) => {
  expect(countText(count, "step")).toBe(text);
});

test.each([
  [1_200.56, undefined, "1,201"],
  [1_200.56, 1, "1,200.6"],
  [2, 4, "2"],
])("%d with %s decimals is %s", (value, decimals, text) => {
  expect(numberText(value, decimals)).toBe(text);
});
