import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallStep, Step } from "../document/plan.ts";
import { components, findCycle, topologicalOrder } from "./edges.ts";
import { planGraph } from "./plan-graph.ts";
import {
  acyclicDependencies,
  breakCycles,
  DependencyCycleError,
  executionOrder,
  planWaves,
} from "./plan-order.ts";

/** A step whose tool is named after it. */
const step = (id: string, dependsOn: string[] = [], more: Partial<CallStep> = {}): Step => ({
  id,
  tool: `tool_${id}`,
  arguments: {},
  dependsOn,
  ...more,
});
const planOf = (dependencies: Record<string, string[]>) => ({
  steps: Object.entries(dependencies).map(([id, list]) => step(id, list)),
});
const chain = (length: number) => ({
  steps: Array.from({ length }, (_, index) =>
    step(`s${index}`, [], { arguments: index > 0 ? { from: `<<s${index - 1}.out>>` } : {} }),
  ),
});

describe("planGraph", () => {
  test.each([
    ["explicit dependencies", step("b", ["a"])],
    ["a reference in an argument", step("b", [], { arguments: { x: "<<a.id>>" } })],
    ["a reference deep in an argument", step("b", [], { arguments: { x: [{ y: "is {{a.id}}!" }] } })],
    ["a $ref", step("b", [], { arguments: { x: "$ref:a.id" } })],
    ["a reference by tool name", step("b", [], { arguments: { x: "<<tool_a.id>>" } })],
    ["a condition", step("b", [], { when: { eq: ["<<a.ok>>", true] } })],
    ["a condition on a status", step("b", [], { when: { status: ["a", "FAILED"] } })],
    ["both at once, counted once", step("b", ["a"], { arguments: { x: "<<a.id>>", y: "<<a.id>>" } })],
    ["an explicit dependency given twice", step("b", ["a", "a"])],
  ])("sees %s", (_, b) => {
    const { dependencies, dependents } = planGraph({ steps: [step("a"), b] });
    expect(Object.fromEntries(dependencies)).toEqual({ a: [], b: ["a"] });
    expect(Object.fromEntries(dependents)).toEqual({ a: ["b"], b: [] });
  });

  test("sees the items of a forEach, not its alias", () => {
    const each: Step = {
      id: "b",
      dependsOn: [],
      forEach: {
        items: "<<a.rows>>",
        as: "row",
        errors: "collect",
        do: { tool: "t", arguments: { x: "<<row.id>>", i: "<<index>>" } },
      },
    };
    expect(planGraph({ steps: [step("a"), step("row"), each] }).dependencies.get("b")).toEqual(["a"]);
  });

  test("leaves out ids that are not in the plan", () => {
    expect(planGraph({ steps: [step("b", ["ghost"], { arguments: { x: "<<phantom.id>>" } })] })).toEqual({
      dependencies: new Map([["b", []]]),
      dependents: new Map([["b", []]]),
      order: ["b"],
    });
  });

  test("takes the first of steps with the same id", () => {
    const graph = planGraph({ steps: [step("a"), step("b", ["a"]), step("b", ["b"])] });
    expect(graph.cycle).toBeUndefined();
    expect(graph.dependents.get("a")).toEqual(["b"]);
  });

  test("puts explicit dependencies first, then references as they appear", () => {
    const d = step("d", ["c"], { arguments: { x: "<<b.v>> <<a.v>>" } });
    expect(planGraph({ steps: [step("a"), step("b"), step("c"), d] }).dependencies.get("d")).toEqual([
      "c",
      "b",
      "a",
    ]);
  });

  test("adds dependencies of contracts, for every step of the tool", () => {
    const steps = [
      step("a", [], { tool: "search" }),
      step("b", [], { tool: "login" }),
      step("c", [], { tool: "login" }),
    ];
    const contracts = new Map([
      [
        "search",
        {
          dependsOn: [
            { tool: "login", requiredFields: [] },
            { tool: "search", requiredFields: [] },
          ],
        },
      ],
    ]);
    expect(planGraph({ steps }, { contracts }).dependencies.get("a")).toEqual(["b", "c"]);
    expect(planGraph({ steps }).dependencies.get("a")).toEqual([]);
  });

  test.each([
    ["of one step", { a: ["a"] }, ["a"]],
    ["of two steps", { a: ["b"], b: ["a"] }, ["a", "b"]],
    ["of three, after a free step", { x: [], a: ["c"], b: ["a"], c: ["b"] }, ["a", "c", "b"]],
    ["without the steps after it", { z: ["a"], a: ["b"], b: ["a"] }, ["a", "b"]],
    ["of two the first found", { a: ["b"], b: ["a"], c: ["d"], d: ["c"] }, ["a", "b"]],
  ])("lists a cycle %s", (_, dependencies, cycle) => {
    expect(planGraph(planOf(dependencies)).cycle).toEqual(cycle);
  });

  test("orders the steps that do not wait for the cycle", () => {
    expect(planGraph(planOf({ x: [], a: ["b"], b: ["a"], z: ["a"], y: ["x"] })).order).toEqual(["x", "y"]);
  });

  test("a chain of thirty thousand steps is handled without recursion", () => {
    const plan = chain(30_000);
    expect(planGraph(plan).order).toHaveLength(30_000);
    expect(planWaves(plan)).toHaveLength(30_000);
  });

  test("a cycle through thirty thousand steps is listed completely", () => {
    const { steps } = chain(30_000);
    const plan = { steps: [{ ...steps[0]!, dependsOn: ["s29999"] }, ...steps.slice(1)] };
    expect(planGraph(plan).cycle).toHaveLength(30_000);
    expect(() => executionOrder(plan)).toThrow(DependencyCycleError);
  });

  test("names of built-in members are ordinary ids", () => {
    expect(planGraph(planOf({ constructor: [], toString: ["constructor"] })).order).toEqual([
      "constructor",
      "toString",
    ]);
  });
});

describe("views of the order", () => {
  const diamond = planOf({ d: ["b", "c"], b: ["a"], c: ["a"], a: [], e: [] });

  test("planWaves puts each step directly after its last dependency", () => {
    expect(planWaves(diamond)).toEqual([["a", "e"], ["b", "c"], ["d"]]);
  });

  test("executionOrder keeps plan order wherever it can", () => {
    expect(executionOrder(diamond)).toEqual(["a", "b", "c", "d", "e"]);
    expect(executionOrder(planOf({ a: [], b: ["a"], c: [] }))).toEqual(["a", "b", "c"]);
  });

  const cyclic = planOf({ a: ["b"], b: ["a"], c: ["b"] });
  test.each([planWaves, executionOrder])("%o refuses a cycle unless the policy says what to do", (view) => {
    expect(() => view(cyclic)).toThrow(
      expect.objectContaining({ code: "DEPENDENCY_CYCLE", facts: { cycle: ["a", "b"] } }),
    );
    expect(() => view({ ...cyclic, policy: { onCycle: "break-fewest" } })).not.toThrow();
  });

  test("break-fewest and run-together decide the waves of a cycle", () => {
    expect(planWaves({ ...cyclic, policy: { onCycle: "break-fewest" } })).toEqual([["a"], ["b"], ["c"]]);
    expect(planWaves({ ...cyclic, policy: { onCycle: "run-together" } })).toEqual([["a", "b"], ["c"]]);
  });

  test("acyclicDependencies removes only edges of the cycle", () => {
    expect(Object.fromEntries(acyclicDependencies(planGraph(cyclic), "break-fewest"))).toEqual({
      a: [],
      b: ["a"],
      c: ["b"],
    });
    expect(Object.fromEntries(acyclicDependencies(planGraph(cyclic), "run-together"))).toEqual({
      a: [],
      b: [],
      c: ["b"],
    });
  });
});

const anyEdges = fc.integer({ min: 0, max: 9 }).chain((size) =>
  fc.array(fc.uniqueArray(fc.nat({ max: Math.max(0, size - 1) }), { maxLength: size }), {
    minLength: size,
    maxLength: size,
  }),
);

/** Reachability by Warshall's algorithm. */
function reachable(edges: readonly (readonly number[])[]): boolean[][] {
  const reach = edges.map((list) => edges.map((_, other) => list.includes(other)));
  edges.forEach((_, via) => {
    for (const from of reach) if (from[via]) reach[via]!.forEach((is, to) => (from[to] ||= is));
  });
  return reach;
}

describe("for any graph", () => {
  test("a cycle is found exactly when a position reaches itself, and it is real", () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const reach = reachable(edges);
        const cycle = findCycle(edges);
        expect(cycle !== undefined).toBe(edges.some((_, index) => reach[index]![index]));
        cycle?.forEach((index, place) => expect(edges[index]).toContain(cycle[(place + 1) % cycle.length]));
        if (cycle) expect(new Set(cycle).size).toBe(cycle.length);
      }),
    );
  });

  test("components are the classes of mutual reachability, each after its dependencies", () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const reach = reachable(edges);
        const found = components(edges);
        const placeOf = new Map(found.flatMap((members, place) => members.map((index) => [index, place])));
        expect(placeOf.size).toBe(edges.length);
        for (let a = 0; a < edges.length; a += 1) {
          for (let b = 0; b < edges.length; b += 1) {
            if (a === b) continue;
            expect(placeOf.get(a) === placeOf.get(b)).toBe(reach[a]![b] && reach[b]![a]);
            if (reach[a]![b]) expect(placeOf.get(b)).toBeLessThanOrEqual(placeOf.get(a)!);
          }
        }
      }),
    );
  });

  test.each(["break-fewest", "run-together"] as const)(
    "%s gives an acyclic graph and removes only edges of cycles",
    (onCycle) => {
      fc.assert(
        fc.property(anyEdges, (edges) => {
          const reach = reachable(edges);
          const { dependencies, dropped } = breakCycles(edges, onCycle);
          expect(findCycle(dependencies)).toBeUndefined();
          for (const [from, to] of dropped) expect(reach[to]![from]).toBe(true);
          edges.forEach((list, index) => {
            const lost = dropped.flatMap(([from, to]) => (from === index ? [to] : []));
            expect(new Set([...(dependencies[index] ?? []), ...lost])).toEqual(new Set(list));
          });
          if (!findCycle(edges)) expect(dropped).toEqual([]);
        }),
      );
    },
  );

  test("topologicalOrder has every position once, dependencies first, and keeps a valid order", () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const { dependencies } = breakCycles(edges, "run-together");
        const order = topologicalOrder(dependencies);
        const placeOf = new Map(order.map((index, place) => [index, place]));
        expect(placeOf.size).toBe(edges.length);
        dependencies.forEach((list, index) => {
          for (const other of list) expect(placeOf.get(other)).toBeLessThan(placeOf.get(index)!);
        });
        const forward = edges.map((list, index) => list.filter((other) => other < index));
        expect(topologicalOrder(forward)).toEqual(forward.map((_, index) => index));
      }),
    );
  });

  test("waves and path lengths agree with their plain definitions", () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const dependencies = edges.map((list, index) => list.filter((other) => other < index));
        const plan = {
          steps: dependencies.map((list, index) =>
            step(
              `s${index}`,
              list.map((other) => `s${other}`),
            ),
          ),
        };
        const depth = (index: number): number => Math.max(-1, ...dependencies[index]!.map(depth)) + 1;
        const waves = planWaves(plan);
        dependencies.forEach((_, index) => {
          expect(waves[depth(index)]).toContain(`s${index}`);
        });
      }),
    );
  });
});
