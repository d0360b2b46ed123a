import { expect, test } from "vitest";
import { type ListedRequest, toListedRequest } from "../api/listed-requests.ts";
import { bulkTable } from "./bulk-table.ts";
import { requestsTable } from "./tables.ts";

const style = (_: unknown, text: string) => text;
const LONG = "Reserve a pen for each of the authors who wrote about tea in the last year, and tell them";

function listed({
  title = "searchItems → reserveStock",
  code = null,
  planCode = null,
}: {
  title?: string;
  code?: string | null;
  planCode?: string | null;
}): ListedRequest {
  return toListedRequest({
    requestId: "req_1795253322_b8dzgomm7f8z2yi7kyqz",
    status: code === null ? "COMPLETED" : "FAILED",
    source: "plan",
    query: null,
    title,
    createdAt: "2026-11-24T10:20:30.123Z",
    error: null,
    plan: {
      status: "FAILED",
      error: planCode === null ? null : { code: planCode },
      finishedAt: "2026-11-25T09:00:00.000Z",
      cancelRequestedAt: null,
      pauseRequestedAt: null,
      waitReason: null,
      mayHaveActed: 0,
      counts: { inDoubt: 0 },
      stepsConnection: {
        nodes: code === null ? [] : [{ tool: "reserveStockOfEveryShop", status: "FAILED", error: { code } }],
      },
    },
  });
}
const REQUESTS = [
  listed({}),
  listed({ title: LONG, code: "TOOL_FAILED" }),
  listed({
    title: "お茶について書いた作家を探して、それぞれにペンを一本ずつ予約してください。お願いします。",
  }),
];
/** East Asian characters are two columns wide. */
const widthOf = (line: string) => line.replace(/[\u3000-\u9fff]/g, "xx").length;

test.each([46, 60, 80, 100, 132, 200])(
  "no line of a list is longer than a terminal of %d columns",
  (columns) => {
    const lines = requestsTable(REQUESTS, { columns, style });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    for (const line of lines.slice(1)) expect(line).toContain("req_1795253322_b8dzgomm7f8z2yi7kyqz");
  },
);

test.each([
  ["TOOL_FAILED", "STEP_FAILED", "TOOL_FAILED"],
  ["CANCELLED", "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"],
  ["CANCELLED", null, "CANCELLED"],
])("a step that ended with %s in a plan that ended with %s is listed with %s", (code, planCode, shown) => {
  expect(listed({ code, planCode }).code).toBe(shown);
});

test("a terminal's width is used: a wide one shows what a narrow one cuts or leaves out", () => {
  const at = (columns: number) => requestsTable(REQUESTS, { columns, style }).join("\n");
  expect(at(60)).not.toContain("TOOL_FAILED");
  expect(at(100)).toContain("TOOL_FAILED");
  expect(at(250)).toContain(LONG);
});

test("a piped list is whole, and shows the time by which it is sorted", () => {
  const text = requestsTable(REQUESTS, { columns: Number.POSITIVE_INFINITY, style }).join("\n");
  for (const part of [LONG, "searchItems → reserveStock", "reserveStockOfEveryShop", "2026-11-24T10:20:30Z"])
    expect(text).toContain(part);
  expect(text).not.toContain("2026-11-25");
});

test("no line of a bulk result is longer than the terminal, and a piped one is whole", () => {
  const result = {
    requestId: "req_1795253322_b8dzgomm7f8z2yi7kyqz",
    version: 1,
    status: "FAILED",
    title: LONG,
    changed: true,
    error: null,
  } as const;
  const at = (columns: number) => bulkTable([result], { columns, style });
  expect(Math.max(...at(80).map(widthOf))).toBeLessThanOrEqual(80);
  expect(at(Number.POSITIVE_INFINITY).join("\n")).toContain(LONG);
});
