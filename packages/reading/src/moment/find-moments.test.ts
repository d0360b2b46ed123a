import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { findMoments } from "./find-moments.ts";
import { readingText } from "./moment.ts";

/** A Wednesday, 09:52 in Berlin. */
const NOW = { now: new Date("2026-11-25T08:52:11Z"), timezone: "Europe/Berlin" };
const said = (text: string, now = NOW) =>
  findMoments(text, now).moments.map((moment) => [moment.text, ...moment.readings.map(readingText)]);

describe("unambiguous words", () => {
  test.each([
    ["call Bob tomorrow", "tomorrow", "2026-11-26"],
    ["what was sold yesterday?", "yesterday", "2026-11-24"],
    ["the day after tomorrow", "the day after tomorrow", "2026-11-27"],
    ["the day before yesterday", "the day before yesterday", "2026-11-23"],
    ["tomorrow at 9", "tomorrow at 9", "2026-11-26T09:00:00+01:00"],
    ["tomorrow, 14:30 please", "tomorrow, 14:30", "2026-11-26T14:30:00+01:00"],
    ["at 9am tomorrow", "at 9am tomorrow", "2026-11-26T09:00:00+01:00"],
    ["3 p.m. on Friday", "3 p.m. on Friday", "2026-11-27T15:00:00+01:00"],
    ["tomorrow evening at 8", "tomorrow evening at 8", "2026-11-26T20:00:00+01:00"],
    ["tomorrow at 8 in the evening", "tomorrow at 8 in the evening", "2026-11-26T20:00:00+01:00"],
    ["tonight at 8", "tonight at 8", "2026-11-25T20:00:00+01:00"],
    ["tomorrow at noon", "tomorrow at noon", "2026-11-26T12:00:00+01:00"],
    ["tomorrow at 9 UTC", "tomorrow at 9 UTC", "2026-11-26T09:00:00Z"],
    ["tomorrow at 9:00 +05:30", "tomorrow at 9:00 +05:30", "2026-11-26T09:00:00+05:30"],
    ["in two hours", "in two hours", "2026-11-25T11:52:11+01:00"],
    ["in half an hour", "in half an hour", "2026-11-25T10:22:11+01:00"],
    ["in an hour and a half", "in an hour and a half", "2026-11-25T11:22:11+01:00"],
    ["in 1 hour and 20 minutes", "in 1 hour and 20 minutes", "2026-11-25T11:12:11+01:00"],
    ["tonight at 12", "tonight at 12", "2026-11-25"],
    ["tomorrow night at 1", "tomorrow night at 1", "2026-11-26"],
    ["tomorrow night at 1am", "tomorrow night at 1am", "2026-11-26"],
    ["tomorrow night at 11", "tomorrow night at 11", "2026-11-26T23:00:00+01:00"],
    ["end of the week", "end of the week", "2026-11-29"],
    ["five minutes ago", "five minutes ago", "2026-11-25T09:47:11+01:00"],
    ["in 3 days", "in 3 days", "2026-11-28"],
    ["in a fortnight", "in a fortnight", "2026-12-09"],
    ["two weeks ago", "two weeks ago", "2026-11-11"],
    ["a week from Monday", "a week from Monday", "2026-12-07"],
    ["two days before tomorrow", "two days before tomorrow", "2026-11-24"],
    ["next Monday", "next Monday", "2026-11-30"],
    ["on Friday", "Friday", "2026-11-27"],
    ["last Monday", "last Monday", "2026-11-23", "2026-11-16"],
    ["Monday of next week", "Monday of next week", "2026-11-30"],
    ["next week on Thursday", "next week on Thursday", "2026-12-03"],
    ["last week", "last week", "2026-11-16 to 2026-11-22"],
    ["this month", "this month", "2026-11-01 to 2026-11-30"],
    ["last quarter", "last quarter", "2026-07-01 to 2026-09-30"],
    ["next year", "next year", "2027-01-01 to 2027-12-31"],
    ["the last 7 days", "the last 7 days", "2026-11-18 to 2026-11-25"],
    ["the past month", "the past month", "2026-10-25 to 2026-11-25"],
    ["last 2 hours", "last 2 hours", "2026-11-25T07:52:11+01:00 to 2026-11-25T09:52:11+01:00"],
    ["this weekend", "this weekend", "2026-11-28 to 2026-11-29"],
    ["due end of month", "end of month", "2026-11-30"],
    ["the end-of-month report", "the end-of-month", "2026-11-30"],
    ["by the end of next month", "the end of next month", "2026-12-31"],
    ["start of next quarter", "start of next quarter", "2027-01-01"],
    ["last day of the year", "last day of the year", "2026-12-31"],
    ["end of February", "end of February", "2027-02-28"],
    ["on December 5", "December 5", "2026-12-05"],
    ["5th of december at 10am", "5th of december at 10am", "2026-12-05T10:00:00+01:00"],
    ["since March 5", "March 5", "2026-03-05"],
  ])("%s", (text, words, ...readings) => {
    expect(said(text)).toEqual([[words, ...readings]]);
  });
});

describe("ambiguous words give both meanings, the likelier first", () => {
  test.each([
    ["next Friday", "2026-12-04", "2026-11-27"],
    ["this Monday", "2026-11-30", "2026-11-23"],
    ["Wednesday", "2026-11-25", "2026-12-02"],
    ["March 5", "2027-03-05", "2026-03-05"],
    ["tomorrow at 3", "2026-11-26T15:00:00+01:00", "2026-11-26T03:00:00+01:00"],
  ])("%s", (text, ...readings) => {
    expect(said(text)).toEqual([[text, ...readings]]);
  });
});

test.each([
  "2026-11-03 at 14:00",
  "March 5, 2027",
  "end of March 2027",
  'say "see you tomorrow"',
  "the may 5 people",
  "in 9999 years",
  "a march in may",
  "open at 9",
  "in town",
  "the last page",
  "for 3 nights",
  "",
])("%s has no words that mean a day relative to now", (text) => {
  expect(said(text)).toEqual([]);
});

test("an ambiguous time zone gives only the day, and the rest is open", () => {
  expect(said("tomorrow at 9 EST")).toEqual([["tomorrow at 9 EST", "2026-11-26"]]);
  expect(findMoments("tomorrow at 9 EST", NOW).isOpen).toBe(true);
});

test.each([
  "every Monday",
  "the day before the party tomorrow",
  "between tomorrow and Friday",
  "weekly from today",
  "tonight at 12",
])("%s is open", (text) => expect(findMoments(text, NOW).isOpen).toBe(true));

test("a moment has its position, and the end of its day", () => {
  const text = "Call Bob tomorrow at 9 or on Friday";
  const { moments } = findMoments(text, NOW);
  expect(
    moments.map(({ start, end, dayEnd }) => [text.slice(start, end), text.slice(start, dayEnd)]),
  ).toEqual([
    ["tomorrow at 9", "tomorrow"],
    ["Friday", "Friday"],
  ]);
});

describe("days and clock changes follow the caller's time zone", () => {
  test.each([
    ["Pacific/Auckland", "2026-11-25T12:00:00Z", "today", "2026-11-26"],
    ["America/Los_Angeles", "2026-11-25T07:00:00Z", "today", "2026-11-24"],
    ["UTC", "2026-11-25T23:59:59Z", "tomorrow at 9", "2026-11-26T09:00:00Z"],
    // Summer time ends on 2026-10-25 and begins on 2026-03-29 in Berlin.
    ["Europe/Berlin", "2026-10-24T10:00:00Z", "tomorrow at 9", "2026-10-25T09:00:00+01:00"],
    ["Europe/Berlin", "2026-10-24T10:00:00Z", "in 24 hours", "2026-10-25T11:00:00+01:00"],
    ["Europe/Berlin", "2026-03-28T10:00:00Z", "tomorrow at 9", "2026-03-29T09:00:00+02:00"],
    ["America/New_York", "2026-03-07T23:00:00Z", "in two hours", "2026-03-07T20:00:00-05:00"],
    ["America/New_York", "2026-03-08T06:30:00Z", "in two hours", "2026-03-08T04:30:00-04:00"],
    ["Asia/Kolkata", "2026-11-25T20:00:00Z", "end of month", "2026-11-30"],
  ])("%s at %s: %s", (timezone, now, text, reading) => {
    expect(said(text, { now: new Date(now), timezone })).toEqual([[text, reading]]);
  });

  test("a time that the clock skips means the time after the gap", () => {
    const now = { now: new Date("2026-03-28T10:00:00Z"), timezone: "Europe/Berlin" };
    expect(said("tomorrow at 2:30am", now)).toEqual([["tomorrow at 2:30am", "2026-03-29T03:30:00+02:00"]]);
  });
});

const PIECES =
  'tomorrow next last Monday week at 9 in 2 hours the end of month March 5 ago from , " “ am'.split(" ");
property.prop([
  fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 6 })), { maxLength: 60 }),
])("for any text, moments are in order and have a meaning", (pieces) => {
  const text = pieces.join(" ");
  let end = 0;
  for (const moment of findMoments(text, NOW).moments) {
    expect(moment.start).toBeGreaterThanOrEqual(end);
    expect(text.slice(moment.start, moment.end)).toBe(moment.text);
    expect(moment.dayEnd).toBeLessThanOrEqual(moment.end);
    expect(moment.readings.length).toBeGreaterThan(0);
    end = moment.end;
  }
});

test.each(["“", '"', "a.m", "+01:00", "next ", "in 2 ", "the end of ", "at 9 ", "a-"])(
  "a long text of %j is scanned once",
  (unit) => {
    // Scanning again from every repetition would exceed the test's timeout.
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    expect(findMoments(text, NOW).moments.length).toBeLessThanOrEqual(20);
  },
);
