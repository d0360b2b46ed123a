import { expect, test } from "vitest";
import { createBoundedLabel } from "./create-metrics.ts";

test("the first values are kept, also later; all further values become one", () => {
  const label = createBoundedLabel(2);
  expect(["a", "b", "c", "a", "d", "b"].map(label)).toEqual(["a", "b", "other", "a", "other", "b"]);
});

test("200 values are kept by default", () => {
  const label = createBoundedLabel();
  const names = Array.from({ length: 1_000 }, (_, index) => label(`tool${index}`));
  expect(new Set(names).size).toBe(201);
  expect(names[199]).toBe("tool199");
  expect(names[200]).toBe("other");
});
