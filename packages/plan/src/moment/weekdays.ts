import { day, dayOfWeek, periodOf } from "./calendar.ts";
import type { MomentWord } from "./moment-words.ts";
import type { DaysReading, SaidDays } from "./said-days.ts";

const NAMES = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const SHORT: ReadonlyMap<string, number> = new Map(
  Object.entries({ mon: 1, tue: 2, tues: 2, wed: 3, thu: 4, thur: 4, thurs: 4, fri: 5 }),
);
const SHIFTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ last: -1, previous: -1, this: 0, next: 1 }),
);

/** 1 for Monday to 7 for Sunday. */
function weekdayOf(word: MomentWord | undefined): number | null {
  const at = NAMES.indexOf(word?.lower ?? "");
  return at === -1 ? (SHORT.get(word?.lower ?? "") ?? null) : at + 1;
}

/** "Friday", "next Monday", "last Friday", "Monday of next week", "next week on Monday". */
export function weekdayAt(reading: DaysReading<MomentWord>, at: number): SaidDays | null {
  return inWeek(reading, at) ?? afterWeek(reading, at) ?? relative(reading, at);
}

/** "Monday of next week", "Friday next week". */
function inWeek({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const weekday = weekdayOf(words[at]);
  const start = ["of", "in"].includes(words[at + 1]?.lower ?? "") ? at + 2 : at + 1;
  const shift = SHIFTS.get(words[start]?.lower ?? "");
  if (weekday === null || shift === undefined || words[start + 1]?.lower !== "week") return null;
  return { days: [day(dayOfWeek(periodOf(today, "week", shift).from, weekday))], next: start + 2 };
}

/** "next week on Monday", "next week Monday". */
function afterWeek({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const shift = SHIFTS.get(words[at]?.lower ?? "");
  if (shift === undefined || words[at + 1]?.lower !== "week") return null;
  const start = words[at + 2]?.lower === "on" ? at + 3 : at + 2;
  const weekday = weekdayOf(words[start]);
  if (weekday === null) return null;
  return { days: [day(dayOfWeek(periodOf(today, "week", shift).from, weekday))], next: start + 1 };
}

function relative({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const word = words[at]?.lower ?? "";
  const bare = weekdayOf(words[at]);
  const weekday = bare ?? weekdayOf(words[at + 1]);
  if (weekday === null) return null;
  const here = dayOfWeek(today, weekday);
  const isLaterThisWeek = weekday > today.dayOfWeek;
  const coming = isLaterThisWeek ? here : here.add({ weeks: 1 });
  const before = weekday < today.dayOfWeek ? here : here.subtract({ weeks: 1 });
  const next = bare === null ? at + 2 : at + 1;
  if (bare !== null) {
    const isToday = weekday === today.dayOfWeek;
    return { days: isToday ? [day(today), day(coming)] : [day(coming)], alsoDays: [day(before)], next };
  }
  switch (word) {
    case "next":
      // Before that day of this week, people mean the day of the next week, or of this week.
      return { days: isLaterThisWeek ? [day(coming.add({ weeks: 1 })), day(coming)] : [day(coming)], next };
    case "this":
      return { days: weekday < today.dayOfWeek ? [day(coming), day(here)] : [day(here)], next };
    case "coming":
      return { days: [day(coming)], next };
    case "last":
    case "previous":
    case "past":
      return {
        days: weekday < today.dayOfWeek ? [day(before), day(before.subtract({ weeks: 1 }))] : [day(before)],
        next,
      };
    default:
      return null;
  }
}
