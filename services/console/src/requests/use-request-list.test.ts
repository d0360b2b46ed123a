import { expect, test } from "vitest";
import { type RequestRow } from "../data/list-operations.ts";
import { withPage, withRow } from "./requests-page.tsx";

const row = (requestId: string, second: number, status = "COMPLETED"): RequestRow =>
  ({ requestId, status, createdAt: `2026-11-24T15:30:${String(second).padStart(2, "0")}.000Z` }) as never;
const shown = (rows: readonly RequestRow[]) => rows.map(({ requestId, status }) => `${requestId} ${status}`);

test("a page is added after the newer rows, and replaces rows that are there already", () => {
  const rows = [row("d", 40), row("c", 30, "EXECUTING")];
  const page = [row("c", 30), row("b", 20), row("a", 10)];
  expect(shown(withPage(rows, page))).toEqual(["d COMPLETED", "c COMPLETED", "b COMPLETED", "a COMPLETED"]);
});

test("a row is inserted by its time, and rows of the same time keep their order", () => {
  const rows = withPage([], [row("c", 30), row("b", 20), row("a", 20)]);
  expect(shown(withRow(rows, row("d", 25)))).toEqual([
    "c COMPLETED",
    "d COMPLETED",
    "b COMPLETED",
    "a COMPLETED",
  ]);
});
