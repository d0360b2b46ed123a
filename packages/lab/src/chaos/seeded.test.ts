import { parsePlan } from "@planwright/plan";
import { COUNTING_TOOLS, LIST_TOOLS } from "@planwright/testing";
import { describe, expect, test } from "vitest";
import { createRandom } from "../random/random.ts";
import { CHAOS_TOOLS, indexInText, sentenceOf } from "./chaos-plan.ts";
import { makePlan, makeToolScript } from "./make-plan.ts";
import { makeFaultSchedule } from "./play-out.ts";

const plansOf = (seed: number) =>
  Array.from({ length: 100 }, (_, index) => makePlan(createRandom(seed).stream(`plan ${index}`), index));

describe("a seed", () => {
  test("repeats plans, faults and the behaviour of tools; another seed gives others", () => {
    const of = (seed: number) => ({
      plans: plansOf(seed),
      faults: makeFaultSchedule(createRandom(seed), {
        count: 30,
        withinMs: 75_000,
        deadAfterMs: 2_000,
      }),
      script: makeToolScript(createRandom(seed)),
    });
    expect(of(7)).toEqual(of(7));
    expect(of(7)).not.toEqual(of(8));
  });

  test("draws evenly, also from streams and by weight", () => {
    const random = createRandom(1).stream("test");
    const draws = Array.from({ length: 4_000 }, () => random.whole(1, 4));
    for (const value of [1, 2, 3, 4])
      expect(draws.filter((draw) => draw === value).length).toBeGreaterThan(850);
    const heavy = Array.from({ length: 4_000 }, () =>
      random.weighted([
        [9, "a"],
        [1, "b"],
      ] as const),
    );
    expect(heavy.filter((draw) => draw === "b").length).toBeLessThan(600);
    expect(new Set(random.shuffled([1, 2, 3, 4, 5]))).toEqual(new Set([1, 2, 3, 4, 5]));
  });
});

describe("chaos plans", () => {
  test("are valid, have 3 to 30 steps, and use tools of every class", () => {
    const tools = [...COUNTING_TOOLS, ...LIST_TOOLS].map(({ name, annotations, contract }) => ({
      name,
      annotations: { ...annotations },
      inputSchema: { type: "object" },
      _meta: { "x-orchestration": JSON.parse(JSON.stringify(contract)) },
    }));
    const plans = plansOf(7);
    for (const { document, steps } of plans) {
      const { ok, diagnostics } = parsePlan(document, { tools });
      expect(ok).toBe(true);
      // A minSuccess of a list that stops at failures has no effect, and validation says so.
      expect(diagnostics.filter(({ code }) => code !== "FOREACH_MIN_SUCCESS")).toEqual([]);
      expect(steps.length).toBeGreaterThanOrEqual(3);
      expect(steps.length).toBeLessThanOrEqual(30);
    }
    const used = new Set(plans.flatMap(({ steps }) => steps.map(({ tool }) => tool)));
    expect([...used].toSorted()).toEqual(Object.keys(CHAOS_TOOLS).toSorted());
    const lists = plans.flatMap(({ steps }) => steps.flatMap(({ list }) => list ?? []));
    expect(new Set(lists.map(({ errors }) => errors))).toEqual(new Set(["stop", "collect", undefined]));
    expect(lists.some(({ minSuccess }) => minSuccess !== undefined && minSuccess < 1)).toBe(true);
    expect(lists.some(({ minSuccess }) => minSuccess !== undefined && minSuccess > 1)).toBe(true);
    expect(new Set(plans.map(({ via }) => via)).size).toBe(2);
  });

  test("are checked by facts that agree with the contracts of their tools", () => {
    const contracts = new Map(
      [...COUNTING_TOOLS, ...LIST_TOOLS].map(({ name, contract }) => [name, contract]),
    );
    for (const [name, { collects, isBatch }] of Object.entries(CHAOS_TOOLS)) {
      const { side_effects, error_propagation, batch } = contracts.get(name) ?? {};
      const isPartial =
        (error_propagation ?? (side_effects ? "fail-fast" : "partial-success")) !== "fail-fast";
      expect({ name, collects, isBatch }).toEqual({
        name,
        collects: isPartial || undefined,
        isBatch: batch !== undefined || undefined,
      });
    }
  });

  test("are identified by their sentence", () => {
    expect(indexInText(JSON.stringify([{ role: "user", content: sentenceOf(12) }]))).toBe(12);
    expect(indexInText("nothing")).toBeUndefined();
  });
});

describe("a fault schedule", () => {
  const schedule = makeFaultSchedule(createRandom(3), {
    count: 40,
    withinMs: 100_000,
    deadAfterMs: 2_000,
  });

  test("begins with the kill of an executor and has every kind of fault among the first twenty", () => {
    expect(schedule[0]).toMatchObject({ type: "kill", target: "busiest executor" });
    const types = new Set(schedule.slice(0, 20).map(({ type }) => type));
    expect([...types].toSorted()).toEqual(["cut", "duplicates", "flush", "freeze", "kill", "pause"]);
    const killed = new Set(
      schedule.flatMap((fault) =>
        fault.type === "kill" ? [fault.target.replace(/-\d$|^busiest /, "")] : [],
      ),
    );
    expect([...killed].toSorted()).toEqual(["api", "executor", "mongo", "planner", "redis", "tools"]);
  });

  test("is in order and within its time, and pauses executors until they are declared dead", () => {
    expect(schedule.map(({ atMs }) => atMs)).toEqual(
      schedule.map(({ atMs }) => atMs).toSorted((a, b) => a - b),
    );
    expect(schedule.every(({ atMs }) => atMs >= 0 && atMs <= 100_000)).toBe(true);
    const stops = schedule.filter((fault) => fault.type === "pause" && fault.target.includes("executor"));
    expect(stops.every((fault) => "forMs" in fault && fault.forMs > 2_000)).toBe(true);
  });
});
