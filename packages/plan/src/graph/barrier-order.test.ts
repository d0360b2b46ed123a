import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { StepSchema } from "../document/plan.ts";
import { barrierOrder, executionOrder, planWaves } from "./plan-order.ts";

/** Acyclic graphs with positions in any order. */
const graphs = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc
    .record({
      ranks: fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
      uses: fc.array(fc.uniqueArray(fc.nat({ max: count - 1 }), { maxLength: 3 }), {
        minLength: count,
        maxLength: count,
      }),
      isBarrier: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
    })
    .map(({ ranks, uses, isBarrier }) => ({
      dependencies: uses.map((list, index) =>
        list.filter((other) => (ranks[other] ?? 0) < (ranks[index] ?? 0)),
      ),
      isBarrier,
    })),
);

/** The rules, implemented literally and slowly. */
function referenceOrder(dependencies: number[][], isBarrier: readonly boolean[]) {
  const placed = new Set<number>();
  const barriers: number[] = [];
  const before = dependencies.map(() => 0);
  const reached = (from: number) => {
    const all = new Set([from]);
    for (const position of all) for (const other of dependencies[position] ?? []) all.add(other);
    all.delete(from);
    return [...all].toSorted((a, b) => a - b);
  };
  const place = (position: number) => {
    if (placed.has(position)) return;
    if (isBarrier[position]) for (const other of reached(position)) place(other);
    placed.add(position);
    before[position] = barriers.length;
    if (isBarrier[position]) barriers.push(position);
  };
  for (const position of dependencies.keys()) place(position);
  return { barriers, before };
}

test.prop([graphs], { numRuns: 2_000 })(
  "barriers come in the order of the rules",
  ({ dependencies, isBarrier }) => {
    expect(barrierOrder(dependencies, (position) => isBarrier[position] === true)).toEqual(
      referenceOrder(dependencies, isBarrier),
    );
  },
);

describe("a chain of barriers, each waiting for the next one", () => {
  /** Number of dependencies that are read. */
  function readsOf(count: number): number {
    let reads = 0;
    const dependencies = Array.from(
      { length: count },
      (_, index) =>
        new Proxy(index + 1 < count ? [index + 1] : [], {
          get(list, key, receiver) {
            reads += 1;
            return Reflect.get(list, key, receiver);
          },
        }),
    );
    const { barriers } = barrierOrder(dependencies, () => true);
    expect(barriers[0]).toBe(count - 1);
    return reads;
  }

  test("of 1,000 needs no more work for each than one of 100", () => {
    expect(readsOf(1_000) / 1_000).toBeLessThan((readsOf(100) / 100) * 1.1);
  });
});

describe("views of the order with barriers", () => {
  const plan = (steps: Record<string, readonly [tool: string, ...dependsOn: string[]]>) => ({
    steps: Object.entries(steps).map(([id, [tool, ...dependsOn]]) =>
      StepSchema.parse({ id, tool, dependsOn }),
    ),
  });
  const contracts = new Map([
    ["read", { dependsOn: [], barrier: false }],
    ["deploy", { dependsOn: [], barrier: true }],
  ]);
  const steps = plan({
    a: ["read"],
    b: ["read"],
    deploy: ["deploy"],
    c: ["read"],
    late: ["deploy", "z"],
    y: ["read"],
    z: ["read"],
  });

  test("a barrier is a separate wave between the steps before it and after it", () => {
    expect(planWaves(steps, { contracts })).toEqual([["a", "b"], ["deploy"], ["c", "z"], ["late"], ["y"]]);
    expect(executionOrder(steps, { contracts })).toEqual(["a", "b", "deploy", "c", "z", "late", "y"]);
  });

  test("without contracts only dependencies decide", () => {
    expect(planWaves(steps)).toEqual([["a", "b", "deploy", "c", "y", "z"], ["late"]]);
  });

  test.prop([graphs])("no wave contains a barrier and another step", ({ dependencies, isBarrier }) => {
    const random = plan(
      Object.fromEntries(
        dependencies.map((list, index) => [
          `s${index}`,
          [isBarrier[index] ? "deploy" : "read", ...list.map((other) => `s${other}`)] as const,
        ]),
      ),
    );
    const waves = planWaves(random, { contracts });
    expect(waves.flat()).toHaveLength(dependencies.length);
    for (const wave of waves) {
      const holdsBarrier = wave.some((id) => isBarrier[Number(id.slice(1))]);
      expect(holdsBarrier && wave.length > 1).toBe(false);
    }
  });
});
