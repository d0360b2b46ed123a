import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { StepSchema } from "../document/step.ts";
import { barrierOrder } from "./barrier-order.ts";
import { executionOrder, planWaves } from "./plan-order.ts";

/** Graphs without cycles whose positions stand in any order. */
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

/** The rules as they are written, however long they take. */
function slowly(dependencies: number[][], isBarrier: readonly boolean[]) {
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
  "barriers come where the rules say",
  ({ dependencies, isBarrier }) => {
    expect(barrierOrder(dependencies, (position) => isBarrier[position] === true)).toEqual(
      slowly(dependencies, isBarrier),
    );
  },
);

describe("a chain of barriers, each waiting for the next one", () => {
  /** How often dependencies are looked at. */
  function looks(count: number): number {
    let looked = 0;
    const dependencies = Array.from(
      { length: count },
      (_, index) =>
        new Proxy(index + 1 < count ? [index + 1] : [], {
          get(list, key, receiver) {
            looked += 1;
            return Reflect.get(list, key, receiver);
          },
        }),
    );
    const { barriers } = barrierOrder(dependencies, () => true);
    expect(barriers[0]).toBe(count - 1);
    return looked;
  }

  test("of 1,000 takes no more work for each than one of 100", () => {
    expect(looks(1_000) / 1_000).toBeLessThan((looks(100) / 100) * 1.1);
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

  test("a barrier is a wave of its own between what comes before it and behind it", () => {
    expect(planWaves(steps, { contracts })).toEqual([["a", "b"], ["deploy"], ["c", "z"], ["late"], ["y"]]);
    expect(executionOrder(steps, { contracts })).toEqual(["a", "b", "deploy", "c", "z", "late", "y"]);
  });

  test("without contracts dependencies alone decide", () => {
    expect(planWaves(steps)).toEqual([["a", "b", "deploy", "c", "y", "z"], ["late"]]);
  });

  test.prop([graphs])("no wave holds a barrier and something else", ({ dependencies, isBarrier }) => {
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
