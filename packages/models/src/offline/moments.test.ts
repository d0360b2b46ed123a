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
  expect(momentAt(tokenize(text), 0)).toMatchObject({ ...NOTHING, ...expected });
});

test.each(["tomorrow", "next friday", "this weekend", "dec 24", "tonight"])(
  "which day %s is depends on a clock",
  (text) => {
    expect(momentAt(tokenize(text), 0)).toMatchObject({ date: null, isRelative: true });
  },
);

test.each(["2026-02-30", "31 april 2027", "25:00", "13pm", "may", "next", "Paris", "12", '"2026-11-03"'])(
  "%s is no moment",
  (text) => {
    expect(momentAt(tokenize(text), 0)).toBeNull();
  },
);
