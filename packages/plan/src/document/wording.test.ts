import { expect, test } from "vitest";
import { boundedText, shareText } from "./planning-advice.ts";

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
