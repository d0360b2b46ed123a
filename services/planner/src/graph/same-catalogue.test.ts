import { expect, test } from "vitest";
import { createSameCatalogue } from "./planning-graph.ts";

test("an equal catalogue is the same array, a changed one is not", () => {
  const same = createSameCatalogue();
  const first = same([{ name: "a", description: "x" }]);
  expect(same([{ name: "a", description: "x" }])).toBe(first);
  const changed = [{ name: "a", description: "y" }];
  expect(same(changed)).toBe(changed);
  expect(same([])).toEqual([]);
});

test("a new count of a field is not a change, and each tenant has its own array", () => {
  const same = createSameCatalogue();
  const seen = (times: number) => [
    { name: "a", observedOutput: { types: { object: times }, fields: { id: { types: { string: times } } } } },
  ];
  const first = same(seen(3), "t1");
  const other = same([{ name: "a" }], "t2");
  expect(same(seen(4), "t1")).toBe(first);
  expect(same([{ name: "a" }], "t2")).toBe(other);
  expect(same(seen(2), "t1")).not.toBe(first);
});
