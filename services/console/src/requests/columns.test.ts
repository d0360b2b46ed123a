import { expect, test } from "vitest";
import { columnsOf, timeModeOf, timeText } from "./columns.tsx";

const AT = "2026-11-24T10:00:00.000Z";
const NOW = Date.parse(AT) + 90_000;

test("the address names the columns, whose order is fixed; by default the usual ones are shown", () => {
  expect(columnsOf(new URLSearchParams("columns=tags,error,nothing"))).toEqual(["error", "tags"]);
  expect(columnsOf(new URLSearchParams("columns="))).toEqual([]);
  expect(columnsOf(new URLSearchParams())).toEqual(["error", "steps", "duration", "created"]);
});

test("times are relative, local or in UTC", () => {
  expect(timeText(AT, { now: NOW, time: "relative" })).toBe("1 min ago");
  expect(timeText(AT, { now: NOW, time: "UTC" })).toBe("2026-11-24 10:00:00 UTC");
  const local = timeText(AT, { now: NOW, time: "local" });
  expect(Date.parse(local.replace(" ", "T"))).toBe(Date.parse(AT));
  expect(timeModeOf(new URLSearchParams("time=else"))).toBe("relative");
});
