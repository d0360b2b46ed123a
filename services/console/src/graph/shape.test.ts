import { expect, test } from "vitest";
import { shapeOf } from "./fold.ts";

test("an edge that others imply is left out, and so is an unknown dependency", () => {
  const shape = shapeOf([
    { id: "a", dependsOn: [], height: 58 },
    { id: "b", dependsOn: ["a", "gone"], height: 58 },
    { id: "c", dependsOn: ["a", "b"], height: 58 },
  ]);
  expect(shape.edges).toEqual([
    ["a", "b"],
    ["b", "c"],
  ]);
});

test("a cycle does not hang the page", () => {
  const shape = shapeOf([
    { id: "a", dependsOn: ["b"], height: 58 },
    { id: "b", dependsOn: ["a"], height: 58 },
  ]);
  expect(shape.nodes.map(({ id }) => id)).toEqual(["a", "b"]);
});
