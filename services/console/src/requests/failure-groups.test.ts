import { expect, test } from "vitest";
import { failureGroups } from "./requests-page.tsx";

function failed(
  requestId: string,
  updatedAt: string,
  planCode: string | null,
  { code = null, mayHaveActed = 0 }: { code?: string | null; mayHaveActed?: number } = {},
) {
  return {
    requestId,
    title: "a",
    updatedAt,
    error: code === null ? null : { code },
    plan: { mayHaveActed, error: planCode === null ? null : { code: planCode } },
  };
}

test("failures are grouped by their code, the largest group first, each with its newest request and the number of those that may have acted", () => {
  const groups = failureGroups([
    failed("a", "3", "TOOL_TIMEOUT"),
    failed("b", "1", "TOOL_ERROR"),
    failed("c", "2", "TOOL_ERROR", { mayHaveActed: 3 }),
    failed("d", "4", null, { code: "PLAN_INVALID" }),
    failed("e", "5", null),
  ]);
  expect(
    groups.map(({ code, count, mayHaveActed, newest }) => [code, count, mayHaveActed, newest.requestId]),
  ).toEqual([
    ["TOOL_ERROR", 2, 1, "c"],
    [null, 1, 0, "e"],
    ["PLAN_INVALID", 1, 0, "d"],
    ["TOOL_TIMEOUT", 1, 0, "a"],
  ]);
});

test("without failures there are no groups", () => {
  expect(failureGroups([])).toEqual([]);
});
