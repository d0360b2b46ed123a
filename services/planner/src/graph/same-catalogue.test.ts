import { expect, test } from "vitest";
import { createSameCatalogue } from "./same-catalogue.ts";

test("an equal catalogue is the same array, a changed one is not", () => {
  const same = createSameCatalogue();
  const first = same([{ name: "a", description: "x" }]);
  expect(same([{ name: "a", description: "x" }])).toBe(first);
  const changed = [{ name: "a", description: "y" }];
  expect(same(changed)).toBe(changed);
  expect(same([])).toEqual([]);
});
