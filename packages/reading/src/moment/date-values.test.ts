import { expect, test } from "vitest";
import { datesSaidIn, dateValueOf, fitsMoment } from "./date-values.ts";

test.each([
  ["2026-11-26", ["2026-11-26"]],
  ["2026-11-26T09:00:00+01:00", ["2026-11-26"]],
  ["2026/11/26", ["2026-11-26"]],
  ["20261126", ["2026-11-26"]],
  ["26.11.2026", ["2026-11-26"]],
  ["11/26/2026", ["2026-11-26"]],
  ["05/06/2026", ["2026-06-05", "2026-05-06"]],
  ["November 26, 2026", ["2026-11-26"]],
  ["26th Nov 2026", ["2026-11-26"]],
])("%s is a date", (text, dates) => {
  expect(dateValueOf(text)?.dates).toEqual(dates);
});

test.each([
  "2026-02-30",
  "tomorrow",
  "12345678",
  "9:00",
  "",
  "call 2026-11-26 back",
  "1.2.3",
  5,
  20261126,
  1.5,
])("%s is not a date", (value) => expect(dateValueOf(value)).toBeNull());

test("only dates with a year are found in a text", () => {
  const text = "from 2026-11-03 or 4.12.2026, and on March 5th, 2027 but not on May 1";
  expect([...datesSaidIn(text)].toSorted()).toEqual(["2026-04-12", "2026-11-03", "2026-12-04", "2027-03-05"]);
});

const TOMORROW = { type: "day", date: "2026-11-26" } as const;
const AT_NINE = { type: "instant", at: "2026-11-26T09:00:00+01:00" } as const;
const LAST_WEEK = { type: "days", from: "2026-11-16", to: "2026-11-22" } as const;

test.each([
  [TOMORROW, "2026-11-26", true],
  [TOMORROW, "26.11.2026", true],
  [TOMORROW, "2026-11-26T15:00:00Z", true],
  [TOMORROW, "2026-11-25T23:00:00Z", true], // midnight in Berlin
  [TOMORROW, 1_795_647_600, true],
  [TOMORROW, "2026-11-27", false],
  [AT_NINE, "2026-11-26T09:00:00+01:00", true],
  [AT_NINE, "2026-11-26T08:00:00Z", true],
  [AT_NINE, "2026-11-26 09:00", true],
  [AT_NINE, "2026-11-26", true],
  [AT_NINE, 1_795_680_000_000, true],
  [AT_NINE, "2026-11-26T09:00:00Z", false],
  [AT_NINE, "2026-11-26T10:00:00", false],
  [LAST_WEEK, "2026-11-16", true],
  [LAST_WEEK, "2026-11-22T23:59:59", true],
  [LAST_WEEK, "2026-11-23", true], // the exclusive end
  [LAST_WEEK, "2026-11-15", false],
  [LAST_WEEK, "2026-11-24", false],
])("%o and %s", (reading, value, fits) => {
  const date = dateValueOf(value);
  expect(date !== null && fitsMoment(date, reading, "Europe/Berlin")).toBe(fits);
});
