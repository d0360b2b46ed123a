import { expect, test } from "vitest";
import type { FailedRequest } from "../data/list-operations.ts";
import { failureGroups, normalised, repeatText } from "./home-cards.tsx";

const problem = (code: string | null, message: string) => (code === null ? null : { code, message });

function failed(
  requestId: string,
  updatedAt: string,
  planCode: string | null,
  {
    code = null,
    mayHaveActed = 0,
    tool = "pay",
    message = "Step 'a' failed: no",
  }: { code?: string | null; mayHaveActed?: number; tool?: string; message?: string } = {},
): FailedRequest {
  return {
    requestId,
    version: 1,
    title: "a",
    updatedAt,
    error: problem(code, message),
    plan: {
      mayHaveActed,
      error: problem(planCode, message),
      counts: { completed: 2, total: 5 },
      stepsConnection: { nodes: planCode === null ? [] : [{ tool }] },
    },
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
    groups.map(({ code, requests, mayHaveActed, newest }) => [
      code,
      requests.length,
      mayHaveActed,
      newest.requestId,
    ]),
  ).toEqual([
    ["TOOL_ERROR", 2, 1, "c"],
    [null, 1, 0, "e"],
    ["PLAN_INVALID", 1, 0, "d"],
    ["TOOL_TIMEOUT", 1, 0, "a"],
  ]);
});

test("failures of one code are separated by their tool and by what the tool said, not by ids in it", () => {
  const groups = failureGroups([
    failed("a", "1", "TOOL_FAILED", { message: "Step 'x' failed: No account 17: cus_17abc is unknown" }),
    failed("b", "2", "TOOL_FAILED", { message: "Step 'y' failed: No account 4242: cus_42xyz is unknown" }),
    failed("c", "3", "TOOL_FAILED", { message: "Step 'x' failed: The card was declined" }),
    failed("d", "4", "TOOL_FAILED", { message: "Step 'x' failed: The card was declined", tool: "refund" }),
  ]);
  expect(groups.map(({ tool, message, requests }) => [tool, message, requests.length])).toEqual([
    ["pay", "No account 4242: cus_42xyz is unknown", 2],
    ["refund", "The card was declined", 1],
    ["pay", "The card was declined", 1],
  ]);
});

test.each([
  ["No account with id 17", "no account with id #"],
  ["Mail to bob@test.com bounced", "mail to @ bounced"],
  ["Field 'total' is 12.50 too high", "field … is # too high"],
  ["req_1700_ab12 timed out after 30000 ms", "# timed out after # ms"],
])("%j is normalised to %j", (message, rest) => {
  expect(normalised(message)).toBe(rest);
});

test("a group says what it calls again and what it does not", () => {
  const [group] = failureGroups([failed("a", "1", "TOOL_FAILED"), failed("b", "2", "TOOL_FAILED")]);
  expect(group && repeatText(group)).toBe(
    "6 steps without a result run. pay is called again in each of them. 4 completed steps are carried over and not called again.",
  );
});

test("without failures there are no groups", () => {
  expect(failureGroups([])).toEqual([]);
});
