import { expect, test } from "vitest";
import { failureGroups } from "./failure-groups.ts";

function failed(requestId: string, updatedAt: string, planCode: string | null, code: string | null = null) {
  return {
    requestId,
    title: "a",
    updatedAt,
    error: code === null ? null : { code },
    plan: { error: planCode === null ? null : { code: planCode } },
  };
}

test("failures are grouped by their code, the largest group first, each with its newest request", () => {
  const groups = failureGroups([
    failed("a", "3", "TOOL_TIMEOUT"),
    failed("b", "1", "TOOL_ERROR"),
    failed("c", "2", "TOOL_ERROR"),
    failed("d", "4", null, "PLAN_INVALID"),
    failed("e", "5", null),
  ]);
  expect(groups.map(({ code, count, newest }) => [code, count, newest.requestId])).toEqual([
    ["TOOL_ERROR", 2, "c"],
    [null, 1, "e"],
    ["PLAN_INVALID", 1, "d"],
    ["TOOL_TIMEOUT", 1, "a"],
  ]);
});

test("without failures there are no groups", () => {
  expect(failureGroups([])).toEqual([]);
});
