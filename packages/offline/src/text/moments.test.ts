import { findMoments } from "@planwright/reading";
import { expect, test } from "vitest";
import { momentAt } from "./moments.ts";
import { tokenize } from "./tokens.ts";

const NOTHING = { date: null, time: null, instant: null, isRelative: false };

test.each([
  { text: "2026-11-03", date: "2026-11-03" },
  { text: "5 march 2027", date: "2027-03-05" },
  { text: "5th of March, 2027", date: "2027-03-05" },
  { text: "March 5th 2027", date: "2027-03-05" },
  { text: "2026-11-03 at 14:00", date: "2026-11-03", time: "14:00:00" },
  { text: "9am on march 5, 2027", date: "2027-03-05", time: "09:00:00" },
  { text: "2026-11-03 3:30 pm UTC", date: "2026-11-03", time: "15:30:00Z" },
  { text: "12am", time: "00:00:00" },
  { text: "2026-10-01T09:00Z", instant: "2026-10-01T09:00:00Z" },
])("$text is read as a moment", ({ text, ...expected }) => {
  expect(momentAt({ tokens: tokenize(text), moments: [] }, 0)).toMatchObject({ ...NOTHING, ...expected });
});

test.each(["tomorrow", "next friday", "this weekend", "dec 24", "tonight"])(
  "the day of %s depends on the current time",
  (text) => {
    expect(momentAt({ tokens: tokenize(text), moments: [] }, 0)).toMatchObject({
      date: null,
      isRelative: true,
    });
  },
);

test.each(["2026-02-30", "31 april 2027", "25:00", "13pm", "may", "next", "Paris", "12", '"2026-11-03"'])(
  "%s is no moment",
  (text) => {
    expect(momentAt({ tokens: tokenize(text), moments: [] }, 0)).toBeNull();
  },
);

const NOW = { now: new Date("2026-11-25T08:52:11Z"), timezone: "Europe/Berlin" };

test.each([
  ["tomorrow", { date: "2026-11-26", time: null, dateEnd: 1, next: 1 }],
  ["tomorrow at 9", { date: "2026-11-26", time: "09:00:00+01:00", dateEnd: 1, next: 3 }],
  ["in two hours", { date: "2026-11-25", time: "11:52:11+01:00", next: 3 }],
  ["next monday", { date: "2026-11-30", next: 2 }],
  ["last week", { date: null, range: { from: "2026-11-16", to: "2026-11-22" }, next: 2 }],
  ["next friday", { date: null, time: null, next: 2 }],
])("with a time and a time zone %s becomes a date unless it has two meanings", (text, expected) => {
  const source = { tokens: tokenize(text), moments: findMoments(text, NOW).moments };
  expect(momentAt(source, 0)).toMatchObject({ ...expected, isRelative: true });
});
