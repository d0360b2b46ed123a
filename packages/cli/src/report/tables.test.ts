import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { type ListedRequest, toListedRequest } from "../operations.ts";
import { colourStyle } from "../terminal.ts";
import { bulkTable, requestsTable, table } from "./tables.ts";

const style = (_: unknown, text: string) => text;
const LONG = "Reserve a pen for each of the authors who wrote about tea in the last year, and tell them";

function listed({
  title = "searchItems → reserveStock",
  code = null,
  expiresAt = null,
  planCode = null,
}: {
  title?: string;
  code?: string | null;
  expiresAt?: string | null;
  planCode?: string | null;
}): ListedRequest {
  return toListedRequest({
    requestId: "req_1795253322_b8dzgomm7f8z2yi7kyqz",
    status: expiresAt !== null ? "EXECUTING" : code === null ? "COMPLETED" : "FAILED",
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
      waitReason: expiresAt === null ? null : "approval",
      expiresAt,
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
  listed({ title: "🎉🫠✅ 축하 메일을 보내 🇰🇷".repeat(12), expiresAt: "2026-12-01T08:00:00.000Z" }),
];
/** East Asian characters and emoji are two columns wide. */
const widthOf = (line: string) =>
  line.replace(/\p{RI}{2}|\p{Emoji_Presentation}|[\u1100-\u115f\u3000-\u9fff\uac00-\ud7a3]/gu, "xx").length;

test.each([40, 46, 60, 80, 100, 132, 200])(
  "no line of a list is longer than a terminal of %d columns",
  (columns) => {
    const lines = requestsTable(REQUESTS, { columns, style });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    for (const line of lines.slice(1)) expect(line).toContain("req_1795253322_b8dzgomm7f8z2yi7kyqz");
  },
);

test("columns stay below each other whatever is cut, and colours do not run on", () => {
  const coloured = requestsTable(REQUESTS, { columns: 60, style: colourStyle });
  expect(coloured.map((line) => stripVTControlCharacters(line))).toEqual(
    requestsTable(REQUESTS, { columns: 60, style }),
  );
  const rows = table(
    ["A", "B"],
    [
      ["🫠🫠🫠", "x"],
      ["long text", "x"],
    ],
    style,
    { columns: 8, least: [2, null] },
  );
  expect(rows.slice(1).map((row) => widthOf(row.slice(0, row.indexOf("x"))))).toEqual([7, 7]);
  const [, row] = table(["A"], [[colourStyle("bad", "long text")]], style, { columns: 5, least: [2] });
  expect(row?.endsWith(`…${String.fromCharCode(27)}[0m`)).toBe(true);
});

test.each([
  [80, "12-01 08:00Z"],
  [200, "2026-12-01T08:00:00Z"],
  [Number.POSITIVE_INFINITY, "2026-12-01T08:00:00Z"],
])("at %d columns a list says until when a request waits for a person", (columns, expected) => {
  const [head, ...rows] = requestsTable(REQUESTS, { columns, style });
  const at = head?.indexOf("EXPIRES") ?? -1;
  expect(rows.map((row) => row.slice(at, at + expected.length).trim())).toEqual(["", "", "", expected]);
  expect(requestsTable(REQUESTS.slice(0, 3), { columns, style })[0]).not.toContain("EXPIRES");
});

test.each([
  ["TOOL_FAILED", "STEP_FAILED", "TOOL_FAILED"],
  ["CANCELLED", "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"],
  ["CANCELLED", null, "CANCELLED"],
])("a step that ended with %s in a plan that ended with %s is listed with %s", (code, planCode, shown) => {
  expect(listed({ code, planCode }).code).toBe(shown);
});

test("a terminal's width is used: a wide one shows what a narrow one cuts or leaves out", () => {
  const at = (columns: number) => requestsTable(REQUESTS.slice(0, 3), { columns, style }).join("\n");
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
