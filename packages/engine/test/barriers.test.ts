import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EngineEvent, waitReasonOf } from "../src/index.ts";
import {
  completed,
  failed,
  graph,
  partsOf,
  planOf,
  type Simulation,
  simulate,
  tool,
  write,
} from "./simulate.ts";

const TOOLS = [tool("t"), write("deploy", { barrier: true, idempotency: "key" })];

interface Shape {
  /** Positions of the dependencies of each step; they may come later in the plan. */
  dependencies: number[][];
  isBarrier: boolean[];
  durations: number[];
  maxParallel: number;
}

/** Random acyclic graphs with the steps in any order. */
const shapes: fc.Arbitrary<Shape> = fc.integer({ min: 1, max: 14 }).chain((count) =>
  fc
    .record({
      order: fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: count },
      ),
      uses: fc.array(fc.uniqueArray(fc.nat({ max: count - 1 }), { maxLength: 2 }), {
        minLength: count,
        maxLength: count,
      }),
      isBarrier: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: count, maxLength: count }),
      durations: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: count, maxLength: count }),
      maxParallel: fc.integer({ min: 1, max: 4 }),
      isMixed: fc.boolean(),
    })
    .map(({ order, uses, isBarrier, durations, maxParallel, isMixed }) => {
      const rank = (index: number) => (isMixed ? (order[index] ?? 0) : index);
      const dependencies = uses.map((list, index) => list.filter((other) => rank(other) < rank(index)));
      return { dependencies, isBarrier: isBarrier.map((one) => one === 0), durations, maxParallel };
    }),
);

const planOfShape = ({ dependencies, isBarrier, maxParallel }: Shape) =>
  planOf(
    dependencies.map((list, index) => ({
      id: `s${index}`,
      tool: isBarrier[index] ? "deploy" : "t",
      dependsOn: list.map((other) => `s${other}`),
    })),
    { maxParallel, onStepFailure: "run-dependents" },
  );

const indexOf = (stepId: string) => Number(stepId.slice(1));

/**
 * The barrier rule, implemented literally: a step waits for the barriers before it, unless such a barrier
 * waits for the step, directly or through earlier barriers.
 */
function earlierBarriersOf({ dependencies, isBarrier }: Shape): number[][] {
  const all = dependencies.map((list) => new Set(list));
  const earlierBarriers: number[][] = dependencies.map(() => []);
  const reached = (from: number) => {
    const seen = new Set([from]);
    for (const next of seen) for (const other of all[next] ?? []) seen.add(other);
    return seen;
  };
  isBarrier.forEach((isOne, barrier) => {
    if (!isOne) return;
    const awaited = reached(barrier);
    for (let later = barrier + 1; later < dependencies.length; later++) {
      if (awaited.has(later)) continue;
      all[later]?.add(barrier);
      earlierBarriers[later]?.push(barrier);
    }
  });
  return earlierBarriers;
}

/** Descriptions of the steps that started although they had to wait. */
function violations({ calls }: Simulation, shape: Shape): string[] {
  const earlierBarriers = earlierBarriersOf(shape);
  const spans = new Map(calls.map((span) => [indexOf(span.call.stepId), span]));
  return [...spans].flatMap(([index, { from, to }]) => {
    const waits = [...(shape.dependencies[index] ?? []), ...(earlierBarriers[index] ?? [])];
    const early = waits.filter((other) => (spans.get(other)?.to ?? Number.POSITIVE_INFINITY) > from);
    const beside = [...spans].filter(
      ([other, span]) => other !== index && span.from < to && span.to > from && shape.isBarrier[index],
    );
    return [...early, ...beside.map(([other]) => other)].map(
      (other) => `s${index} beside or before s${other}`,
    );
  });
}

/**
 * A slow reference scheduler: at every end it starts each step that may start, longest remaining path first,
 * and a barrier when nothing else may.
 */
function startsOf(shape: Shape): (number | undefined)[] {
  const { dependencies, isBarrier, durations, maxParallel } = shape;
  const count = dependencies.length;
  const earlierBarriers = earlierBarriersOf(shape);
  const path = (index: number): number =>
    1 + Math.max(0, ...dependencies.flatMap((list, other) => (list.includes(index) ? [path(other)] : [])));
  const order = dependencies
    .map((_, index) => index)
    .sort((a, b) => Number(isBarrier[a]) - Number(isBarrier[b]) || path(b) - path(a) || a - b);
  const start = Array.from<number | undefined>({ length: count });
  const endOf = (index: number) => (start[index] ?? Number.POSITIVE_INFINITY) + (durations[index] ?? 0);
  for (let now = 0; ; ) {
    for (const index of order) {
      const running = order.filter((other) => start[other] !== undefined && endOf(other) > now);
      const waits = [...(dependencies[index] ?? []), ...(earlierBarriers[index] ?? [])];
      const isFree = waits.every((other) => endOf(other) <= now) && running.length < maxParallel;
      if (start[index] !== undefined || !isFree) continue;
      if (running.some((other) => isBarrier[other]) || (isBarrier[index] && running.length > 0)) continue;
      start[index] = now;
    }
    const ends = order.map(endOf).filter((end) => end > now && Number.isFinite(end));
    if (ends.length === 0) return start;
    now = Math.min(...ends);
  }
}

const run = (shape: Shape, plan = planOfShape(shape)) =>
  simulate(plan, TOOLS, { durationMs: ({ stepId }) => shape.durations[indexOf(stepId)] ?? 1 });

describe("for any graph, barriers anywhere, dependencies in any direction", () => {
  for (const { numRuns, options } of partsOf(500))
    test("no step starts before an earlier barrier has ended, and everything ends", options, () => {
      fc.assert(
        fc.property(shapes, (shape) => {
          const simulation = run(shape);
          expect(simulation.finish?.status).toBe("COMPLETED");
          expect(violations(simulation, shape)).toEqual([]);
        }),
        { numRuns },
      );
    });

  for (const { numRuns, options } of partsOf(300))
    test("each step starts when the reference scheduler starts it", options, () => {
      fc.assert(
        fc.property(shapes, (shape) => {
          const starts = startsOf(shape);
          for (const { call, from } of run(shape).calls)
            expect([call.stepId, from]).toEqual([call.stepId, starts[indexOf(call.stepId)]]);
        }),
        { numRuns },
      );
    });

  test("a scheduler that lets steps overtake a barrier is detected", () => {
    const shape: Shape = {
      dependencies: [[], [], []],
      isBarrier: [false, true, false],
      durations: [10, 10, 10],
      maxParallel: 4,
    };
    const plan = planOfShape(shape);
    const barriersLast = {
      ...plan,
      steps: plan.steps.toSorted((a, b) => Number(a.id === "s1") - Number(b.id === "s1")),
    };
    expect(violations(run(shape), shape)).toEqual([]);
    expect(violations(run(shape, barriersLast), shape)).toEqual(["s2 beside or before s1"]);
  });

  for (const { numRuns, options } of partsOf(200))
    test(
      "whatever fails, waits or is written late, no step overtakes a barrier and every step ends",
      options,
      () => {
        const outcomes = fc.array(fc.constantFrom("ok", "reported", "none"), {
          minLength: 14,
          maxLength: 14,
        });
        fc.assert(
          fc.property(shapes, outcomes, fc.integer({ min: 0, max: 30 }), (shape, kinds, writeMs) => {
            const simulation = simulate(planOfShape(shape), TOOLS, {
              writeMs,
              durationMs: ({ stepId }) => shape.durations[indexOf(stepId)] ?? 1,
              outcome: ({ stepId, attempt }) => {
                const kind = kinds[indexOf(stepId)] ?? "ok";
                return kind === "ok" || attempt > 1
                  ? completed(1)
                  : failed(kind as "none", { retryable: true });
              },
            });
            for (const status of Object.values(simulation.statuses))
              expect(["COMPLETED", "FAILED"]).toContain(status);
            const earlierBarriers = earlierBarriersOf(shape);
            for (const { call, from } of simulation.calls) {
              for (const barrier of earlierBarriers[indexOf(call.stepId)] ?? []) {
                const ends = simulation.calls.filter((other) => other.call.stepId === `s${barrier}`);
                for (const { to } of ends) expect(to + writeMs).toBeLessThanOrEqual(from);
              }
            }
          }),
          { numRuns },
        );
      },
    );
});

/** Read before, deploy, read after. Each test decides whether the deployment fails, waits or is in doubt. */
const THREE = [
  { id: "before", tool: "t" },
  { id: "deploy", tool: "deploy" },
  { id: "after", tool: "t" },
];
const startOf = ({ calls }: Simulation) => calls.map(({ call, from }) => [call.stepId, from]);

test("steps around a barrier run in plan order, although the barrier has a longer path", () => {
  const steps = [THREE[0], THREE[1], { ...THREE[2], dependsOn: ["deploy"] }];
  expect(startOf(simulate(planOf(steps), TOOLS))).toEqual([
    ["before", 0],
    ["deploy", 10],
    ["after", 20],
  ]);
});

test.each(["fail-forward", "run-dependents"] as const)(
  "%s: a failed barrier releases the steps after it",
  (onStepFailure) => {
    const simulation = simulate(planOf(THREE, { onStepFailure }), TOOLS, {
      outcome: ({ tool: name }) => (name === "deploy" ? failed() : completed(1)),
    });
    expect(simulation.statuses).toEqual({ before: "COMPLETED", deploy: "FAILED", after: "COMPLETED" });
    expect(simulation.calls.at(-1)).toMatchObject({ from: 20 });
  },
);

test("fail-fast: a failed barrier skips the steps after it", () => {
  const outcome = ({ tool: name }: { tool: string }) => (name === "deploy" ? failed() : completed(1));
  const simulation = simulate(planOf(THREE, { onStepFailure: "fail-fast" }), TOOLS, { outcome });
  expect(simulation.statuses).toEqual({ before: "COMPLETED", deploy: "FAILED", after: "SKIPPED" });
});

test("a barrier that is skipped releases the steps after it", () => {
  const steps = [THREE[0], { ...THREE[1], when: { status: ["before", "FAILED"] } }, THREE[2]];
  const simulation = simulate(planOf(steps), TOOLS);
  expect(simulation.statuses).toEqual({ before: "COMPLETED", deploy: "SKIPPED", after: "COMPLETED" });
  expect(startOf(simulation).at(-1)).toEqual(["after", 10]);
});

test("the wait reason is dependency for a step that waits for a barrier and for a barrier that waits to run alone", () => {
  const reasons: (string | undefined)[] = [];
  const limited: string[] = [];
  simulate(planOf(THREE), TOOLS, {
    onCommand: ({ type }, state) => {
      if (type !== "call") return;
      for (const key of ["before", "deploy", "after"]) {
        const reason = waitReasonOf(state, key);
        reasons.push(reason);
        if (reason === "limit") limited.push(key);
      }
    },
  });
  expect(reasons).toContain("dependency");
  expect(limited).toEqual([]);
});

test("a barrier that waits for approval holds the steps after it, and their wait reason is dependency", () => {
  const steps = [THREE[0], { ...THREE[1], approval: true }, THREE[2]];
  const waiting = simulate(planOf(steps), TOOLS);
  expect(waiting.statuses).toEqual({ before: "COMPLETED", deploy: "WAITING_APPROVAL", after: "PENDING" });
  expect(waiting.park).toMatchObject({ status: "WAITING", reason: "approval" });
  expect(waitReasonOf(waiting.state, "after")).toBe("dependency");

  const approval: EngineEvent = { type: "approval", stepId: "deploy", approved: true, at: 500 };
  const approved = simulate(planOf(steps), TOOLS, { events: [approval] });
  expect(startOf(approved)).toEqual([
    ["before", 0],
    ["deploy", 500],
    ["after", 510],
  ]);
  const refused = simulate(planOf(steps, { onStepFailure: "fail-forward" }), TOOLS, {
    events: [{ ...approval, approved: false }],
  });
  expect(startOf(refused).at(-1)).toEqual(["after", 500]);
});

test("approval of a step after a barrier is requested at once and starts nothing early", () => {
  const steps = [
    { ...THREE[1], approval: true },
    { ...THREE[2], approval: true },
  ];
  const yes = (stepId: string, at: number): EngineEvent => ({ type: "approval", stepId, approved: true, at });
  const simulation = simulate(planOf(steps), TOOLS, { events: [yes("after", 100), yes("deploy", 200)] });
  expect(startOf(simulation)).toEqual([
    ["deploy", 200],
    ["after", 210],
  ]);
});

test("a barrier in doubt holds the steps after it until an operator has settled it", () => {
  const tools = [tool("t"), write("deploy", { barrier: true })];
  const lost = ({ tool: name }: { tool: string }) => (name === "deploy" ? failed("unknown") : completed(1));
  const waiting = simulate(planOf(THREE), tools, { outcome: lost });
  expect(waiting.statuses).toEqual({ before: "COMPLETED", deploy: "IN_DOUBT", after: "PENDING" });
  expect(waiting.park).toMatchObject({ reason: "in doubt" });
  const resolution: EngineEvent = {
    type: "resolve",
    key: "deploy",
    resolution: { type: "completed", output: 1 },
    at: 900,
  };
  const settled = simulate(planOf(THREE), tools, { outcome: lost, events: [resolution] });
  expect(startOf(settled).at(-1)).toEqual(["after", 900]);
  expect(settled.finish?.status).toBe("COMPLETED");
});

test("a barrier between its attempts holds the steps after it", () => {
  const steps = [THREE[1], THREE[2]];
  const simulation = simulate(planOf(steps), TOOLS, {
    outcome: ({ tool: name, attempt }) =>
      name === "deploy" && attempt === 1 ? failed("none", { retryable: true }) : completed(1),
  });
  const [first, second, after] = simulation.calls;
  expect([first, second, after].map((span) => span?.call.stepId)).toEqual(["deploy", "deploy", "after"]);
  expect(after?.from).toBe(second?.to);
});

test("a list of calls of a barrier tool runs one by one, and is one barrier for the steps after it", () => {
  const list = {
    id: "all",
    forEach: { items: [1, 2, 3], do: { tool: "deploy", arguments: { n: "<<item>>" } } },
  };
  const simulation = simulate(planOf([THREE[0], list, THREE[2]]), TOOLS);
  expect(startOf(simulation)).toEqual([
    ["before", 0],
    ["all", 10],
    ["all", 20],
    ["all", 30],
    ["after", 40],
  ]);
});

test("a list after a barrier does not start before the barrier has ended", () => {
  const list = { id: "all", forEach: { items: [1, 2], do: { tool: "t", arguments: { n: "<<item>>" } } } };
  const simulation = simulate(planOf([{ ...THREE[1], approval: true }, list]), TOOLS);
  expect(simulation.statuses).toEqual({ deploy: "WAITING_APPROVAL", all: "PENDING" });
});

test("a barrier that depends on a later step lets it run first, and two barriers do not wait for each other", () => {
  const steps = [
    { id: "one", tool: "deploy", dependsOn: ["x"] },
    { id: "two", tool: "deploy" },
    { id: "x", tool: "t" },
    { id: "y", tool: "t" },
  ];
  expect(startOf(simulate(planOf(steps), TOOLS))).toEqual([
    ["x", 0],
    ["one", 10],
    ["two", 20],
    ["y", 30],
  ]);
});

test("navigation that goes first does not wait for barriers", () => {
  const steps = [THREE[1], THREE[2], { id: "go", tool: "nav" }];
  const simulation = simulate(planOf(steps, { navigation: "first" }), [
    ...TOOLS,
    tool("nav", { navigation: true }),
  ]);
  expect(startOf(simulation)).toEqual([
    ["go", 0],
    ["deploy", 10],
    ["after", 20],
  ]);
});

test("barriers of a broken cycle come in plan order", () => {
  const ring = graph({ a: ["b"], b: ["a"], c: [] }, "deploy");
  for (const onCycle of ["break-fewest", "run-together"] as const) {
    const simulation = simulate(planOf([...ring, { id: "after", tool: "t" }], { onCycle }), TOOLS);
    expect(startOf(simulation).map(([id]) => id)).toEqual(["a", "b", "c", "after"]);
  }
});

test("break-fewest breaks a cycle only when nothing else can run", () => {
  const steps = [...graph({ a: ["b"], b: ["a"], c: [], d: ["c"] }), { id: "e", tool: "t", approval: true }];
  const simulation = simulate(planOf(steps, { onCycle: "break-fewest" }), TOOLS);
  expect(startOf(simulation)).toEqual([
    ["c", 0],
    ["d", 10],
    ["a", 20],
    ["b", 30],
  ]);
});

test("pause, resume and cancel respect the steps that a barrier holds", () => {
  const events: EngineEvent[] = [
    { type: "pause", at: 5 },
    { type: "resume", at: 100 },
  ];
  expect(startOf(simulate(planOf(THREE), TOOLS, { events }))).toEqual([
    ["before", 0],
    ["deploy", 100],
    ["after", 110],
  ]);
  const cancelled = simulate(planOf(THREE), TOOLS, {
    events: [{ type: "cancel", at: 15, reason: "enough" }],
  });
  expect(cancelled.statuses).toMatchObject({ after: "CANCELLED" });
  expect(cancelled.finish?.status).toBe("CANCELLED");
});

for (const { numRuns, options } of partsOf(200))
  test("whenever it crashes, no step overtakes a barrier after the crash", options, () => {
    fc.assert(
      fc.property(shapes, fc.nat({ max: 40 }), (shape, crashAfterEvents) => {
        const plan = planOfShape(shape);
        const durationMs = ({ stepId }: { stepId: string }) => shape.durations[indexOf(stepId)] ?? 1;
        const before = simulate(plan, TOOLS, { durationMs, crashAfterEvents });
        const after = simulate(plan, TOOLS, { durationMs, records: [...before.records.values()] });
        expect(after.finish?.status ?? before.finish?.status).toBe("COMPLETED");
        const earlierBarriers = earlierBarriersOf(shape);
        const spans = new Map(after.calls.map((span) => [indexOf(span.call.stepId), span]));
        for (const [index, { from }] of spans) {
          for (const barrier of earlierBarriers[index] ?? []) {
            const span = spans.get(barrier);
            if (span) expect(span.to).toBeLessThanOrEqual(from);
            else expect(before.records.get(`s${barrier}`)?.status).toBe("COMPLETED");
          }
        }
      }),
      { numRuns },
    );
  });
