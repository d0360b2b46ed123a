import type { StepRun } from "@planwright/client";
import { expect, test } from "vitest";
import { stepOf } from "../../../../packages/client/test/progress.ts";
import { stepsWithTimes } from "./times.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

function row(
  item: number | null,
  status: StepRun["status"],
  from: number | null,
  to: number | null,
): StepRun {
  return {
    ...stepOf("send"),
    item,
    status,
    startedAt: from === null ? null : at(from),
    finishedAt: to === null ? null : at(to),
  };
}

test("a list begins with its first item and ends with its last; its own time is the one that the API measured", () => {
  const [list, ...others] = stepsWithTimes([
    { ...row(null, "COMPLETED", null, null), durationMs: 3_000, waitedForPeopleMs: 5_000 },
    row(0, "COMPLETED", 2, 5),
    row(1, "FAILED", 1, 9),
  ]);
  expect(others).toEqual([]);
  expect(list).toMatchObject({ startedAt: at(1), finishedAt: at(9) });
  expect(list).toMatchObject({ durationMs: 3_000, waitedForPeopleMs: 5_000 });
});

test("a list whose items still run has no end", () => {
  const [list] = stepsWithTimes([row(null, "RUNNING", null, null), row(0, "COMPLETED", 2, 5)]);
  expect(list).toMatchObject({ startedAt: at(2), finishedAt: null, durationMs: null });
});

test("the times of a step without items are kept", () => {
  const [step] = stepsWithTimes([row(null, "COMPLETED", 3, 4)]);
  expect(step).toMatchObject({ startedAt: at(3), finishedAt: at(4) });
});
