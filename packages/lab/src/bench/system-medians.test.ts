import { expect, test } from "vitest";
import { type BenchFigures, mediansOf } from "./system-figures.ts";

const round = (value: number, cpuMs: Record<string, number> = {}): BenchFigures => ({
  plans: value,
  plansPerSecond: value,
  p50Ms: value,
  p99Ms: value,
  cpuMs,
  counts: { commands: value },
});

test("each figure is the median of that figure over all rounds, not taken from one round", () => {
  const rounds = [
    round(3, { api: 1 }),
    { ...round(1, { api: 3 }), p99Ms: 9 },
    round(2, { api: 2, tools: 5 }),
  ];
  expect(mediansOf(rounds)).toEqual({
    plans: 2,
    plansPerSecond: 2,
    p50Ms: 2,
    p99Ms: 3,
    cpuMs: { api: 2, tools: 0 },
    counts: { commands: 2 },
  });
});

test("one round is returned as it is, and two rounds give the lower figure", () => {
  expect(mediansOf([round(7)])).toEqual(round(7));
  expect(mediansOf([round(7), round(4)])).toEqual(round(4));
});
