import { describe, expect, test } from "vitest";
import { chain, diamond, fanIn, scattered, wide } from "./plan-shapes.ts";
import { createRandom } from "./random.ts";

test("each shape has the dependencies of its name", () => {
  expect(chain(3).map(({ dependsOn }) => dependsOn)).toEqual([[], ["s0"], ["s1"]]);
  expect(wide(2).map(({ dependsOn }) => dependsOn)).toEqual([[], []]);
  expect(fanIn(3).map(({ dependsOn }) => dependsOn)).toEqual([[], [], ["s0", "s1"]]);
  expect(diamond(4).map(({ dependsOn }) => dependsOn)).toEqual([[], ["s0"], ["s0"], ["s1", "s2"]]);
});

describe("a scattered graph", () => {
  const graphs = Array.from({ length: 50 }, (_, seed) => scattered(createRandom(seed), 20));

  test("is the same for the same seed, and differs for another seed", () => {
    expect(scattered(createRandom(7), 20)).toEqual(graphs[7]);
    expect(graphs[8]).not.toEqual(graphs[7]);
  });

  test("has no step that depends on a later one or on more than three, and has some steps without dependencies", () => {
    for (const graph of graphs) {
      for (const [index, { dependsOn }] of graph.entries()) {
        expect(dependsOn.length).toBeLessThanOrEqual(3);
        expect(new Set(dependsOn).size).toBe(dependsOn.length);
        for (const id of dependsOn) expect(Number(id.slice(1))).toBeLessThan(index);
      }
    }
    expect(graphs.some((graph) => graph.slice(2).some(({ dependsOn }) => dependsOn.length === 0))).toBe(true);
  });
});
