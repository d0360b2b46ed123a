import { expect, test } from "vitest";
import { type StepRow } from "../../data/request-facts.ts";
import { stepsWithTimes } from "./list-times.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const STEP: StepRow = {
  id: "send",
  key: "send",
  item: null,
  tool: "mail",
  status: "PENDING",
  dependsOn: [],
  waitReason: null,
  effectClass: null,
  effect: null,
  approved: false,
  approvalHash: null,
  carriedFrom: null,
  warnings: [],
  nextAttemptAt: null,
  expiresAt: null,
  startedAt: null,
  finishedAt: null,
  durationMs: null,
  waitedForPeopleMs: null,
  error: null,
  settled: null,
  attempts: [],
};

function row(
  item: number | null,
  status: StepRow["status"],
  from: number | null,
  to: number | null,
): StepRow {
  return {
    ...STEP,
    item,
    status,
    startedAt: from === null ? null : at(from),
    finishedAt: to === null ? null : at(to),
  };
}

test("a list begins with its first item and ends with its last", () => {
  const [list, ...others] = stepsWithTimes([
    row(null, "COMPLETED", null, null),
    row(0, "COMPLETED", 2, 5),
    row(1, "FAILED", 1, 9),
  ]);
  expect(others).toEqual([]);
  expect(list).toMatchObject({ startedAt: at(1), finishedAt: at(9), durationMs: 8_000 });
});

test("a list whose items still run has no end", () => {
  const [list] = stepsWithTimes([row(null, "RUNNING", null, null), row(0, "COMPLETED", 2, 5)]);
  expect(list).toMatchObject({ startedAt: at(2), finishedAt: null, durationMs: null });
});

test("the times of a step without items are kept", () => {
  const [step] = stepsWithTimes([row(null, "COMPLETED", 3, 4)]);
  expect(step).toMatchObject({ startedAt: at(3), finishedAt: at(4) });
});
