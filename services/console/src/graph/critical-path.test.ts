import { expect, test } from "vitest";
import { criticalPath, type TimedStep } from "./times.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const step = (id: string, dependsOn: string[], from: number | null, to: number | null): TimedStep => ({
  id,
  dependsOn,
  startedAt: from === null ? null : at(from),
  finishedAt: to === null ? null : at(to),
});

test("the critical path leads from the step that ended last to the dependency that ended last, and so on", () => {
  const steps = [
    step("a", [], 0, 1),
    step("b", ["a"], 1, 5),
    step("c", ["a"], 1, 3),
    step("d", ["b", "c"], 5, 6),
    step("e", ["c"], 3, 4),
  ];
  expect([...criticalPath(steps)]).toEqual(["d", "b", "a"]);
});

test("before a step has ended the critical path is empty, and a step that never began is not on it", () => {
  expect(criticalPath([step("a", [], 0, null)]).size).toBe(0);
  expect([...criticalPath([step("a", [], 0, 1), step("b", ["a"], null, 9)])]).toEqual(["a"]);
});
