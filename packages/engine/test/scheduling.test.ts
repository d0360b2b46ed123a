import fc from "fast-check";
import { expect, test } from "vitest";
import type { Call, Simulation, Span } from "./simulate.ts";
import { completed, failed, graph, partsOf, planOf, simulate, tool } from "./simulate.ts";

interface Shape {
  dependencies: number[][];
  tools: number[];
  durations: number[];
  maxParallel: number;
  limits: number[];
}

/** Random acyclic graphs: each step depends on some of the earlier ones. */
const shape = (maxSteps: number): fc.Arbitrary<Shape> =>
  fc.integer({ min: 1, max: maxSteps }).chain((count) =>
    fc.record({
      dependencies: fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          index === 0
            ? fc.constant<number[]>([])
            : fc.uniqueArray(fc.nat({ max: index - 1 }), { maxLength: Math.min(3, index) }),
        ),
      ),
      tools: fc.array(fc.nat({ max: 2 }), { minLength: count, maxLength: count }),
      durations: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: count, maxLength: count }),
      maxParallel: fc.integer({ min: 1, max: 6 }),
      limits: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
    }),
  );

const toolsOf = ({ limits }: Shape, barrier = false) =>
  limits.map((limit, index) =>
    tool(`t${index}`, {
      mode: "fan-out-bounded",
      max_concurrency: limit,
      ...(barrier && index === 2 ? { barrier: true } : {}),
    }),
  );

const planOfShape = ({ dependencies, tools, maxParallel }: Shape) =>
  planOf(
    dependencies.map((list, index) => ({
      id: `s${index}`,
      tool: `t${tools[index]}`,
      dependsOn: list.map((other) => `s${other}`),
    })),
    { maxParallel, onStepFailure: "fail-forward" },
  );

const indexOf = (call: Call) => Number(call.stepId.slice(1));

/**
 * At each start, checks the limits over all overlapping calls; a call that ends at that time has already
 * freed its slot.
 */
function checkLimits(spans: readonly Span[], { limits, maxParallel }: Shape, barrierTool?: string) {
  for (const span of spans) {
    const beside = spans.filter((other) => other.from <= span.from && other.to > span.from);
    expect(beside.length).toBeLessThanOrEqual(maxParallel);
    const sameTool = beside.filter((other) => other.call.tool === span.call.tool);
    expect(sameTool.length).toBeLessThanOrEqual(limits[Number(span.call.tool.slice(1))] ?? 0);
    if (span.call.tool === barrierTool) expect(beside).toEqual([span]);
  }
}

function checkDependencies(run: Simulation, { dependencies }: Shape) {
  const spans = new Map(run.calls.map((span) => [indexOf(span.call), span]));
  for (const [index, span] of spans) {
    for (const other of dependencies[index] ?? []) {
      expect(spans.get(other)?.to ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(span.from);
    }
  }
}

/**
 * A slow reference scheduler: at every end, it starts every step that may start, longest remaining path
 * first.
 */
function listSchedule(plan: Shape, weights: readonly number[]) {
  const count = plan.dependencies.length;
  const rank = Array.from({ length: count }, () => 0);
  for (let index = count - 1; index >= 0; index--) {
    const after = plan.dependencies.flatMap((list, other) =>
      list.includes(index) ? [rank[other] ?? 0] : [],
    );
    rank[index] = (weights[index] ?? 1) + Math.max(0, ...after);
  }
  const order = rank.map((_, index) => index).sort((a, b) => (rank[b] ?? 0) - (rank[a] ?? 0) || a - b);
  const end = Array.from<number | undefined>({ length: count });
  const start = Array.from<number | undefined>({ length: count });
  for (let now = 0; ; ) {
    const isRunning = (index: number) => start[index] !== undefined && (end[index] ?? 0) > now;
    for (const index of order) {
      if (start[index] !== undefined) continue;
      if (!plan.dependencies[index]?.every((other) => end[other] !== undefined && (end[other] ?? 0) <= now))
        continue;
      const running = order.filter(isRunning);
      const sameTool = running.filter((other) => plan.tools[other] === plan.tools[index]);
      if (running.length >= plan.maxParallel) continue;
      if (sameTool.length >= (plan.limits[plan.tools[index] ?? 0] ?? 0)) continue;
      start[index] = now;
      end[index] = now + (plan.durations[index] ?? 0);
    }
    const ends = end.filter((time): time is number => time !== undefined && time > now);
    if (ends.length === 0) return { makespan: now, start };
    now = Math.min(...ends);
  }
}

for (const { numRuns, options } of partsOf(300))
  test(
    "every schedule respects dependencies and limits, and equals the list schedule with the same ranks",
    options,
    () => {
      fc.assert(
        fc.property(shape(25), (plan) => {
          const run = simulate(planOfShape(plan), toolsOf(plan), {
            durationMs: (call) => plan.durations[indexOf(call)] ?? 1,
          });
          expect(run.finish?.status).toBe("COMPLETED");
          checkDependencies(run, plan);
          checkLimits(run.calls, plan);
          // Equal start times also mean that no slot stays free that a ready step could use.
          const oracle = listSchedule(
            plan,
            plan.durations.map(() => 1),
          );
          const starts = run.calls.map(({ call, from }) => [indexOf(call), from]);
          for (const [index, from] of starts) expect(from).toBe(oracle.start[index ?? 0]);
        }),
        { numRuns },
      );
    },
  );

for (const { numRuns, options } of partsOf(1_000))
  test(
    "with expected durations the makespan is within 2% of the list schedule on 1,000 random graphs",
    options,
    () => {
      fc.assert(
        fc.property(shape(30), (plan) => {
          const run = simulate(planOfShape(plan), toolsOf(plan), {
            durationMs: (call) => plan.durations[indexOf(call)] ?? 1,
            expectedMs: (stepId) => plan.durations[Number(stepId.slice(1))] ?? 1,
          });
          const oracle = listSchedule(plan, plan.durations);
          expect(run.endedAt).toBeLessThanOrEqual(oracle.makespan * 1.02);
        }),
        { numRuns },
      );
    },
  );

for (const { numRuns, options } of partsOf(150))
  test(
    "a step starts only when the results of its dependencies are durable, however long writes take",
    options,
    () => {
      fc.assert(
        fc.property(shape(20), fc.integer({ min: 1, max: 40 }), (plan, writeMs) => {
          const run = simulate(planOfShape(plan), toolsOf(plan), {
            durationMs: (call) => plan.durations[indexOf(call)] ?? 1,
            writeMs,
          });
          expect(run.finish?.status).toBe("COMPLETED");
          checkLimits(run.calls, plan);
          const spans = new Map(run.calls.map((span) => [indexOf(span.call), span]));
          for (const [index, { from }] of spans) {
            for (const other of plan.dependencies[index] ?? []) {
              expect(from).toBeGreaterThanOrEqual(
                (spans.get(other)?.to ?? Number.POSITIVE_INFINITY) + writeMs,
              );
            }
          }
        }),
        { numRuns },
      );
    },
  );

for (const { numRuns, options } of partsOf(200))
  test("nothing runs at the same time as a barrier, and everything ends", options, () => {
    fc.assert(
      fc.property(shape(20), (plan) => {
        const run = simulate(planOfShape(plan), toolsOf(plan, true), {
          durationMs: (call) => plan.durations[indexOf(call)] ?? 1,
        });
        expect(run.finish?.status).toBe("COMPLETED");
        checkDependencies(run, plan);
        checkLimits(run.calls, plan, "t2");
      }),
      { numRuns },
    );
  });

for (const { numRuns, options } of partsOf(200))
  test("whatever fails, every step ends, and the same run gives the same commands", options, () => {
    fc.assert(
      fc.property(
        shape(20),
        fc.array(fc.constantFrom("ok", "reported", "unknown", "none"), { minLength: 20, maxLength: 20 }),
        fc.constantFrom("fail-fast", "fail-forward", "run-dependents"),
        (plan, outcomes, onStepFailure) => {
          const once = () =>
            simulate(
              { ...planOfShape(plan), policy: { ...planOfShape(plan).policy, onStepFailure } },
              toolsOf(plan),
              {
                durationMs: (call) => plan.durations[indexOf(call)] ?? 1,
                outcome: (call) => {
                  const kind = outcomes[indexOf(call) % 20] ?? "ok";
                  return kind === "ok"
                    ? completed(1)
                    : failed(kind as "none", { retryable: indexOf(call) % 2 === 0 });
                },
              },
            );
          const run = once();
          expect(run.finish).toBeDefined();
          for (const status of Object.values(run.statuses)) {
            expect(["COMPLETED", "FAILED", "SKIPPED"]).toContain(status);
          }
          expect(once().commands).toEqual(run.commands);
        },
      ),
      { numRuns },
    );
  });

test("a chain never waits for an independent slow step", () => {
  const plan = planOf(graph({ slow: [], a: [], b: ["a"], c: ["b"], d: ["c"], e: ["d"] }));
  const run = simulate(plan, [tool("t")], { durationMs: ({ stepId }) => (stepId === "slow" ? 1_000 : 10) });
  expect(run.calls.find(({ call }) => call.stepId === "e")?.to).toBe(50);
  expect(run.endedAt).toBe(1_000);
});

test("the longest remaining path goes first, then plan order", () => {
  const plan = planOf(graph({ x: [], y: [], a: [], b: ["a"], c: ["b"] }), { maxParallel: 1 });
  const run = simulate(plan, [tool("t")]);
  expect(run.calls.map(({ call }) => call.stepId)).toEqual(["a", "b", "x", "y", "c"]);
});

test("calls of a sequential-only tool never overlap, but run in parallel with other tools", () => {
  const tools = [tool("one", { mode: "sequential-only" }), tool("many")];
  const steps = ["a", "b", "c"].flatMap((id) => [
    { id, tool: "one" },
    { id: `${id}2`, tool: "many" },
  ]);
  const run = simulate(planOf(steps), tools);
  expect(run.endedAt).toBe(30);
  expect(run.calls.filter(({ from }) => from === 0)).toHaveLength(4);
});
