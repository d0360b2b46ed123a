import { expect, test } from "vitest";
import { cellText, gridOf, isMarkdown, seriesOf } from "./result-shapes.ts";

test("a list of objects is a table with all their columns; numbers are known as such", () => {
  expect(
    gridOf([
      { id: 1, name: "Ann" },
      { id: 2, name: "Bob", tags: ["x"] },
    ]),
  ).toEqual({
    columns: ["id", "name", "tags"],
    rows: [
      [1, "Ann", null],
      [2, "Bob", '["x"]'],
    ],
    isNumber: [true, false, false],
  });
  expect(gridOf(["a", "b"])?.rows).toEqual([["a"], ["b"]]);
});

test.each<[string, unknown]>([
  ["an object", { a: 1 }],
  ["an empty list", []],
  ["lists in a list", [[1], [2]]],
  ["objects with nothing in common", [{ a: 1 }, { b: 1 }, { c: 1 }]],
  ["objects with very many fields", [Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]))]],
])("%s is no table", (_name, value) => {
  expect(gridOf(value)).toBeNull();
});

test("a list with a time and a number each is a series, in the order of time", () => {
  const days = [4, 2, 3, 1].map((day) => ({ day: `2026-10-0${day}`, total: day * 10, note: "x" }));
  expect(seriesOf(days)).toEqual({
    name: "total",
    points: [1, 2, 3, 4].map((day) => ({ at: `2026-10-0${day}`, value: day * 10 })),
  });
  expect(seriesOf(days.map(({ total }) => ({ total })))).toBeNull();
  expect(seriesOf(days.map((one) => ({ ...one, day: "2026-10-01" })))).toBeNull();
});

test("a cell hides nothing", () => {
  expect(cellText("pay\u202egnp.exe")).toBe("pay[U+202E]gnp.exe");
  expect(cellText(null)).toBe("");
});

test.each([
  ["# Heading", true],
  ["- one\n- two", true],
  ["see [this](https://example.com)", true],
  ["A sentence. Another one, 3 * 4 = 12.", false],
  ["<b>bold</b>", false],
])("%j as Markdown: %s", (text, expected) => {
  expect(isMarkdown(text)).toBe(expected);
});
