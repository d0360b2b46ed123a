import { expect, test } from "vitest";
import { shapeOf } from "./shape.ts";

test("an edge that others imply is left out, and a dependency that is no step too", () => {
  const shape = shapeOf([
    { id: "a", dependsOn: [] },
    { id: "b", dependsOn: ["a", "gone"] },
    { id: "c", dependsOn: ["a", "b"] },
  ]);
  expect(shape.edges).toEqual([
    ["a", "b"],
    ["b", "c"],
  ]);
});

test("a cycle ends the walk, not the page", () => {
  const shape = shapeOf([
    { id: "a", dependsOn: ["b"] },
    { id: "b", dependsOn: ["a"] },
  ]);
  expect(shape.nodes).toEqual(["a", "b"]);
});
