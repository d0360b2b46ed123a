import fc from "fast-check";
import { expect, test } from "vitest";
import { edgesOf, remainingPaths, withoutCycles } from "./barriers.ts";

/** Any graph, including cycles and self-edges. */
const anyGraph = fc
  .integer({ min: 1, max: 15 })
  .chain((count) =>
    fc.array(fc.array(fc.nat({ max: count - 1 }), { maxLength: 4 }), { minLength: count, maxLength: count }),
  );

test.each(["break-fewest", "run-together"] as const)("%s leaves no cycle and adds no edge", (onCycle) => {
  fc.assert(
    fc.property(anyGraph, (lists) => {
      const edges = edgesOf(lists);
      const acyclic = withoutCycles(edges, onCycle);
      expect(acyclic && withoutCycles(acyclic, "error")).toBe(acyclic);
      acyclic?.dependencies.forEach((list, index) => {
        for (const dependency of list) expect(edges.dependencies[index]).toContain(dependency);
      });
    }),
  );
});

test("a graph without cycles is returned unchanged", () => {
  const edges = edgesOf([[], [0], [0, 1]]);
  for (const onCycle of ["error", "break-fewest", "run-together"] as const) {
    expect(withoutCycles(edges, onCycle)).toBe(edges);
  }
});

test("run-together frees the steps that wait for each other, and keeps their other dependencies", () => {
  expect(withoutCycles(edgesOf([[1, 3], [0], [1], []]), "run-together")?.dependencies).toEqual([
    [3],
    [],
    [1],
    [],
  ]);
});

test("break-fewest frees the step with the fewest unmet dependencies until there is no cycle", () => {
  const edges = edgesOf([[1, 2], [0], [0, 1]]);
  expect(withoutCycles(edges, "break-fewest")?.dependencies).toEqual([[1], [], [0, 1]]);
});

test("a remaining path counts the step itself and the heaviest path from it to an end", () => {
  const edges = edgesOf([[], [0], [1], [0]]);
  expect(remainingPaths(edges, () => 1)).toEqual([3, 2, 1, 1]);
  expect(remainingPaths(edges, (index) => [1, 1, 1, 10][index] ?? 0)).toEqual([11, 2, 1, 10]);
});
