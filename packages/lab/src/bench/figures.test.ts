import { expect, test } from "vitest";
import { latenciesOf, perSecond } from "./figures.ts";

test("percentiles are measured durations (nearest rank)", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(latenciesOf(hundred)).toEqual({ count: 100, p50Ms: 50, p95Ms: 95, p99Ms: 99, maxMs: 100 });
  expect(latenciesOf([7.04])).toEqual({ count: 1, p50Ms: 7, p95Ms: 7, p99Ms: 7, maxMs: 7 });
});

test("all figures are 0 without measurements", () => {
  expect(latenciesOf([])).toEqual({ count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 });
  expect(perSecond(10, 0)).toBe(0);
});
