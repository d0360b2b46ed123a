import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CallGroup,
  checkToolCalls,
  DependencyCycleError,
  needsOrdering,
  type OrderingPolicy,
  orderToolCalls,
  readToolCalls,
  type ToolCall,
  type ToolDescriptor,
} from "../src/index.ts";

interface Case {
  title: string;
  /** `id[:tool[:after,after]]`; the tool is the id by default. */
  calls: string;
  tools?: Record<string, object>;
  policy?: OrderingPolicy;
  /** Ids of a group, with `!` before a barrier. */
  groups?: string[];
  error?: string;
  message?: string;
}
const cases: Case[] = JSON.parse(readFileSync(new URL("data/ordering.json", import.meta.url), "utf8"));

function readCalls(text: string): ToolCall[] {
  return text.split(" ").flatMap((word) => {
    const [id, tool, after] = word.split(":");
    return id ? [{ id, tool: tool ?? id, ...(after ? { after: after.split(",") } : {}) }] : [];
  });
}

function readTools(tools: Record<string, object> = {}): ToolDescriptor[] {
  return Object.entries(tools).map(([name, fields]) => ({ name, ...fields }));
}

const print = (groups: readonly CallGroup[]) =>
  groups.map(({ isBarrier, calls }) => `${isBarrier ? "!" : ""}${calls.map(({ id }) => id).join(" ")}`);

describe("orderToolCalls", () => {
  test.each(cases.filter(({ groups }) => groups))("$title", ({ calls, tools, policy, groups }) => {
    expect(print(orderToolCalls(readCalls(calls), readTools(tools), policy))).toEqual(groups);
  });

  test.each(cases.filter(({ error }) => error))("$title", ({ calls, tools, policy, error, message = "" }) => {
    const order = () => orderToolCalls(readCalls(calls), readTools(tools), policy);
    expect(order).toThrow(
      expect.objectContaining({ code: error, message: expect.stringContaining(message) }),
    );
  });

  test("returns the same call objects, with all their fields", () => {
    const call = { id: "1", tool: "a", arguments: { x: 1 }, extra: Symbol("kept") };
    expect(orderToolCalls([call], [])[0]!.calls[0]).toBe(call);
  });

  test("changes neither calls nor tools nor policy", () => {
    const calls = Object.freeze(readCalls("b a 1:c:a").map((call) => Object.freeze(call)));
    const tools = Object.freeze([
      Object.freeze({ name: "b", dependsOn: Object.freeze(["z"]) }),
      Object.freeze({ name: "z" }),
    ]);
    const policy = Object.freeze({ onAbsentDependency: "insert" as const });
    expect(print(orderToolCalls(calls, tools as unknown as ToolDescriptor[], policy))).toEqual([
      "a z",
      "b 1",
    ]);
  });

  test("names of built-in members are ordinary tools and ids", () => {
    const calls = readCalls("__proto__:constructor toString:hasOwnProperty:__proto__");
    expect(print(orderToolCalls(calls, []))).toEqual(["__proto__", "toString"]);
  });

  test("a cycle error lists the complete cycle once", () => {
    const calls = readCalls("x 1:a:3 2:a:1 3:a:2 4:a:3");
    const error = thrownBy(() => orderToolCalls(calls, [], { onCycle: "error" }));
    expect(error).toBeInstanceOf(DependencyCycleError);
    expect(error).toMatchObject({ facts: { cycle: ["1", "3", "2"] }, retryable: false });
  });

  test("thirty thousand calls in a chain are ordered without recursion", () => {
    const calls = Array.from({ length: 30_000 }, (_, index) => ({
      id: `c${index}`,
      tool: "t",
      ...(index > 0 ? { after: [`c${index - 1}`] } : {}),
    }));
    expect(orderToolCalls(calls, [])).toHaveLength(30_000);
  });

  test("a thousand calls after a thousand calls of a tool are two groups", () => {
    const calls = Array.from({ length: 2_000 }, (_, index) => ({
      id: `c${index}`,
      tool: index % 2 ? "a" : "b",
    }));
    const groups = orderToolCalls(calls, [{ name: "b", dependsOn: ["a"] }]);
    expect(groups.map((group) => group.calls.length)).toEqual([1_000, 1_000]);
  });
});

describe("checkToolCalls", () => {
  test("a duplicate id and a call without a tool are errors, a tool defined twice is a warning", () => {
    const calls = [{ id: "1", tool: "a" }, { id: "1", name: "a" }, { id: "2" }];
    const tools = [{ name: "a", sequential: true }, { name: "a" }];
    const diagnostics = checkToolCalls(calls, tools);
    expect(diagnostics.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ["STEP_ID_DUPLICATE", "error", "[1].id"],
      ["FIELD_MISSING", "error", "[2].tool"],
      ["TOOL_DUPLICATE", "warning", undefined],
    ]);
    expect(thrownBy(() => orderToolCalls(calls, tools))).toMatchObject({
      code: "TOOL_CALLS_INVALID",
      facts: { diagnostics: diagnostics.slice(0, 2) },
    });
    expect(needsOrdering(calls, tools)).toBe(true);
  });

  test("of a tool defined twice the later definition counts", () => {
    const calls = readCalls("a s b");
    const barrier = { name: "s", sequential: true };
    expect(print(orderToolCalls(calls, [{ name: "s" }, barrier]))).toEqual(["a", "!s", "b"]);
    expect(print(orderToolCalls(calls, [barrier, { name: "s" }]))).toEqual(["a s b"]);
  });
});

describe("names of the tool of a call", () => {
  test.each<[string, ToolCall]>([
    ["tool", { id: "2", tool: "s" }],
    ["name", { id: "2", name: "s" }],
    ["function", { id: "2", function: { name: "s" } }],
  ])("%s", (_, call) => {
    const calls = [{ id: "1", tool: "a" }, call, { id: "3", name: "a" }];
    expect(print(orderToolCalls(calls, [{ name: "s", sequential: true }]))).toEqual(["1", "!2", "3"]);
  });
});

test.each<[string, object[], string[]]>([
  ["JSON text inside function", [{ id: "2", function: { name: "s", arguments: "{}" } }], ["1", "!2", "3"]],
  ["a part of a message", [{ type: "tool_use", id: "2", name: "s", input: {} }], ["1", "!2", "3"]],
  ["functionCall", [{ functionCall: { name: "s", args: {} } }], ["1", "!call_1", "3"]],
  ["toolUse", [{ toolUse: { toolUseId: "2", name: "s", input: {} } }], ["1", "!2", "3"]],
  ["no id", [{ name: "s" }, { name: "s" }], ["1", "!call_1", "!call_2", "3"]],
])("a call of a model provider is read in the form of %s", (_, given, groups) => {
  const calls = [{ id: "1", tool: "a" }, ...given, { id: "3", name: "a" }];
  const tools = [{ name: "s", sequential: true }];
  const read = readToolCalls(calls, tools);
  const idOf = new Map<object, string>(calls.map((call, index) => [call, read[index]!.id]));
  const ids = orderToolCalls(calls, tools).map(
    ({ isBarrier, calls: group }) =>
      `${isBarrier ? "!" : ""}${group.map((call) => idOf.get(call)).join(" ")}`,
  );
  expect(ids).toEqual(groups);
});

describe("dependencies of a call", () => {
  test.each<[string, Partial<ToolCall>]>([
    ["a call, as dependsOn", { dependsOn: ["1"] }],
    ["a tool, as depends_on", { depends_on: "login" }],
    ["a field that a call provides, as dependencies", { dependencies: ["token"] }],
    ["a field that a tool provides", { dependencies: ["session"] }],
  ])("may be %s", (_, more) => {
    const calls = [
      { id: "2", name: "read", ...more },
      { id: "1", name: "login", provides: ["token"] },
    ];
    expect(print(orderToolCalls(calls, [{ name: "login", provides: ["session"] }]))).toEqual(["1", "2"]);
    expect(needsOrdering(calls, [])).toBe(true);
  });

  test("a name that is neither a call nor a tool nor a field is absent", () => {
    const calls = [{ id: "1", name: "read", dependencies: ["ghost"] }];
    expect(thrownBy(() => orderToolCalls(calls, [], { onAbsentDependency: "error" }))).toMatchObject({
      code: "DEPENDENCY_ABSENT",
    });
    for (const policy of [undefined, { profile: "orchestrator" as const }])
      expect(print(orderToolCalls(calls, [], policy))).toEqual(["1"]);
  });
});

describe("needsOrdering", () => {
  test.each([
    [false, "no calls", "", {}],
    [false, "calls that nothing orders", "a b c", { a: {}, b: {} }],
    [false, "one call of a sequential tool", "s", { s: { sequential: true } }],
    [true, "a sequential tool beside another call", "s a", { s: { sequential: true } }],
    [true, "two calls of a sequential tool", "1:s 2:s", { s: { sequential: true } }],
    [false, "a sequential tool that no step calls", "a b", { s: { sequential: true } }],
    [true, "a tool that depends on another", "a b", { b: { dependsOn: ["a"] } }],
    [true, "a tool that depends on an absent one", "b", { b: { dependsOn: ["a"] } }],
    [false, "a tool that depends on itself", "1:b 2:b", { b: { dependsOn: ["b"] } }],
    [true, "a call after another", "1:a 2:a:1", {}],
    [true, "a call after an absent one", "1:a:9", {}],
    [true, "more calls than a tool's limit", "1:a 2:a", { a: { max_concurrency: 1 } }],
    [false, "as many calls as a tool's limit", "1:a 2:a", { a: { max_concurrency: 2 } }],
  ] as const)("is %s for %s", (expected, _, calls, tools) => {
    expect(needsOrdering(readCalls(calls), readTools(tools))).toBe(expected);
  });

  test("is true for more calls than maxParallel", () => {
    expect(needsOrdering(readCalls("a b"), [], { maxParallel: 1 })).toBe(true);
    expect(needsOrdering(readCalls("a b"), [], { maxParallel: 2 })).toBe(false);
  });
});

const NAMES = ["a", "b", "c", "d", "e"];
const toolsOf = fc
  .array(
    fc.record(
      {
        sequential: fc.boolean(),
        dependsOn: fc.subarray(NAMES),
        max_concurrency: fc.integer({ min: 1, max: 3 }),
      },
      { requiredKeys: [] },
    ),
    { minLength: NAMES.length, maxLength: NAMES.length },
  )
  .map((all) => all.map((fields, index) => ({ name: NAMES[index] ?? "", ...fields })));
const callsOf = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.array(fc.nat({ max: 14 }), { maxLength: 3 })), {
    maxLength: 12,
  })
  .map((all) => all.map(([tool, after], index) => ({ id: `${index}`, tool, after: after.map(String) })));

/** Positions that a call waits for, by exhaustive search. */
function waitsOf(calls: readonly ToolCall[], tools: readonly ToolDescriptor[]): number[][] {
  return calls.map(({ tool, after = [] }) => {
    const wanted = tools.find(({ name }) => name === tool)?.["dependsOn"];
    return calls.flatMap((other, position) => {
      const isByTool = Array.isArray(wanted) && wanted.includes(other.tool) && other.tool !== tool;
      return isByTool || after.includes(other.id ?? "") ? [position] : [];
    });
  });
}

/** True when `from` waits for itself, directly or indirectly. */
function isOnCycle(waits: readonly number[][], from: number): boolean {
  const seen = new Set<number>();
  const pending = [...waits[from]!];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === from) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...waits[next]!);
  }
  return false;
}

/**
 * The barrier rule, implemented literally by exhaustive search: for each call, the barriers that it waits for
 * in addition to its dependencies.
 */
function barriersBefore(
  calls: readonly ToolCall[],
  tools: readonly ToolDescriptor[],
  waits: readonly number[][],
): number[][] {
  const all = waits.map((list) => new Set(list));
  const earlierBarriers: number[][] = calls.map(() => []);
  const waitsFor = (from: number, wanted: number) => {
    const seen = new Set([from]);
    for (const next of seen) for (const other of all[next]!) seen.add(other);
    return seen.has(wanted);
  };
  calls.forEach(({ tool }, barrier) => {
    if (tools.find(({ name }) => name === tool)?.["sequential"] !== true) return;
    const held = calls.flatMap((_, later) => (later > barrier && !waitsFor(barrier, later) ? [later] : []));
    for (const later of held) {
      all[later]!.add(barrier);
      earlierBarriers[later]!.push(barrier);
    }
  });
  return earlierBarriers;
}

describe("for any calls and tools", () => {
  const ignore = { onAbsentDependency: "ignore" } as const;
  const policies = fc.constantFrom(
    { ...ignore, onCycle: "break-fewest" as const },
    { ...ignore, onCycle: "run-together" as const },
  );
  const limitOf = (tool: ToolDescriptor) =>
    tool["sequential"] === true ? 1 : Number(tool["max_concurrency"] ?? Infinity);

  // `npm test` draws a tenth, `npm run proof` others.
  for (const { numRuns, options } of [
    { numRuns: 30, options: {} },
    { numRuns: 270, options: { tags: ["proof"] } },
  ])
    test(
      "every call comes once, barriers alone, limits are respected, and order is broken only inside cycles",
      options,
      () => {
        fc.assert(
          fc.property(callsOf, toolsOf, policies, (calls, tools, policy) => {
            const groups = orderToolCalls(calls, tools, policy);
            expect(
              groups
                .flatMap((group) => group.calls)
                .map(({ id }) => Number(id))
                .toSorted((a, b) => a - b),
            ).toEqual(calls.map((_, index) => index));
            for (const { isBarrier, calls: group } of groups) {
              for (const { tool } of group)
                expect(tools.find(({ name }) => name === tool)?.sequential === true).toBe(isBarrier);
              if (isBarrier) expect(group).toHaveLength(1);
              for (const tool of tools) {
                expect(group.filter((call) => call.tool === tool.name).length).toBeLessThanOrEqual(
                  limitOf(tool),
                );
              }
            }
            const groupOf = new Map(
              groups.flatMap((group, index) => group.calls.map(({ id }) => [Number(id), index])),
            );
            const waits = waitsOf(calls, tools);
            waits.forEach((list, position) => {
              for (const other of list) {
                const isSameCycle = isOnCycle(waits, position) && isOnCycle(waits, other);
                if (!isSameCycle) expect(groupOf.get(other)).toBeLessThan(groupOf.get(position)!);
              }
            });
          }),
          { numRuns },
        );
      },
    );

  // `npm test` draws a tenth, `npm run proof` others.
  for (const { numRuns, options } of [
    { numRuns: 30, options: {} },
    { numRuns: 270, options: { tags: ["proof"] } },
  ])
    test("a cycle error comes exactly when there is a cycle, and the listed cycle is real", options, () => {
      fc.assert(
        fc.property(callsOf, toolsOf, (calls, tools) => {
          const waits = waitsOf(calls, tools);
          const error = thrownBy(() => orderToolCalls(calls, tools, { ...ignore, onCycle: "error" }));
          expect(error !== undefined).toBe(calls.some((_, index) => isOnCycle(waits, index)));
          if (!(error instanceof DependencyCycleError)) return;
          const cycle = error.facts.cycle.map(Number);
          expect(new Set(cycle).size).toBe(cycle.length);
          cycle.forEach((position, place) => {
            expect(waits[position]).toContain(cycle[(place + 1) % cycle.length]);
          });
        }),
        { numRuns },
      );
    });

  test("without barriers and limits there are as many groups as the longest chain", () => {
    fc.assert(
      fc.property(callsOf, toolsOf, (calls, tools) => {
        const plain = tools.map(({ name, dependsOn }) => ({ name, ...(dependsOn ? { dependsOn } : {}) }));
        const waits = waitsOf(calls, plain);
        fc.pre(!calls.some((_, index) => isOnCycle(waits, index)));
        const depth = (position: number): number => 1 + Math.max(0, ...waits[position]!.map(depth));
        const longest = Math.max(0, ...calls.map((_, index) => depth(index)));
        expect(orderToolCalls(calls, plain, ignore)).toHaveLength(longest);
      }),
    );
  });

  // `npm test` draws a tenth, `npm run proof` others.
  for (const { numRuns, options } of [
    { numRuns: 50, options: {} },
    { numRuns: 450, options: { tags: ["proof"] } },
  ])
    test(
      "a call comes after every barrier before it in the list, unless that barrier waits for it",
      options,
      () => {
        fc.assert(
          fc.property(callsOf, toolsOf, (calls, tools) => {
            const waits = waitsOf(calls, tools);
            fc.pre(!calls.some((_, index) => isOnCycle(waits, index)));
            const groups = orderToolCalls(calls, tools, ignore);
            const groupOf = new Map(
              groups.flatMap((group, index) => group.calls.map(({ id }) => [Number(id), index])),
            );
            barriersBefore(calls, tools, waits).forEach((barriers, position) => {
              for (const barrier of barriers)
                expect(groupOf.get(barrier)).toBeLessThan(groupOf.get(position)!);
            });
          }),
          { numRuns },
        );
      },
    );

  test("no normal group could contain a call of the next group", () => {
    fc.assert(
      fc.property(callsOf, toolsOf, (calls, tools) => {
        const named = waitsOf(calls, tools);
        fc.pre(!calls.some((_, index) => isOnCycle(named, index)));
        const earlierBarriers = barriersBefore(calls, tools, named);
        const waits = named.map((list, position) => [...list, ...earlierBarriers[position]!]);
        const groups = orderToolCalls(calls, tools, ignore);
        const done = new Set<number>();
        groups.forEach((group, place) => {
          const later = groups.slice(place + 1).filter(({ isBarrier }) => !isBarrier);
          for (const call of group.isBarrier ? [] : later.flatMap((other) => other.calls)) {
            const tool = tools.find(({ name }) => name === call.tool)!;
            const isFull = group.calls.filter((other) => other.tool === call.tool).length >= limitOf(tool);
            expect(isFull || waits[Number(call.id)]!.some((position) => !done.has(position))).toBe(true);
          }
          for (const { id } of group.calls) done.add(Number(id));
        });
      }),
    );
  });

  test("needsOrdering is false exactly for one normal group or one call", () => {
    fc.assert(
      fc.property(callsOf, toolsOf, (calls, tools) => {
        const plain = calls.map(({ id, tool }) => ({ id, tool }));
        const free = tools.map(({ name, sequential, max_concurrency }) => ({
          name,
          ...(sequential === undefined ? {} : { sequential }),
          ...(max_concurrency === undefined ? {} : { max_concurrency }),
        }));
        expect(needsOrdering(plain, free)).toBe(orderToolCalls(plain, free).length > 1);
      }),
    );
  });

  test("the same input gives the same groups", () => {
    fc.assert(
      fc.property(callsOf, toolsOf, policies, (calls, tools, policy) => {
        expect(print(orderToolCalls(calls, tools, policy))).toEqual(
          print(orderToolCalls(calls, tools, policy)),
        );
      }),
    );
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
