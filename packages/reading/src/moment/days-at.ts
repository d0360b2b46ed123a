import { type Days, day, dayOfWeek, periodOf } from "./calendar.ts";
import { partOfDay } from "./clock-time.ts";
import { amountAt, type TimeAmount } from "./moment-numbers.ts";
import type { MomentWord } from "./moment-words.ts";
import { monthDayAt } from "./months.ts";
import { periodAt } from "./periods.ts";
import type { DaysReading, SaidDays } from "./said-days.ts";

type Reading = DaysReading<MomentWord>;

const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({ today: 0, tonight: 0, tomorrow: 1, tmrw: 1, yesterday: -1 }),
);

/**
 * The days that the words at a position mean, relative to today; null without such words, or for full dates.
 */
export function daysAt(reading: Reading, at: number): SaidDays | null {
  const start = reading.words[at]?.lower === "the" ? at + 1 : at;
  return (
    countedAt(reading, start) ??
    weekdayAt(reading, start) ??
    periodAt(reading, start) ??
    monthDayAt(reading, start) ??
    namedAt(reading, at)
  );
}

/** "tomorrow evening", "tonight", "the day after tomorrow", "this morning", "last night". */
function namedAt({ words, today }: Reading, at: number): SaidDays | null {
  const wordAt = (offset: number) => words[at + offset]?.lower ?? "";
  const phrase = [0, 1, 2, 3].map(wordAt).join(" ");
  if (phrase === "the day after tomorrow") return { days: [day(today.add({ days: 2 }))], next: at + 4 };
  if (phrase === "the day before yesterday")
    return { days: [day(today.subtract({ days: 2 }))], next: at + 4 };
  const part = partOfDay(words[at + 1]);
  if (wordAt(0) === "last" && wordAt(1) === "night")
    return { days: [day(today.subtract({ days: 1 }))], part, next: at + 2 };
  if (wordAt(0) === "this" && part !== null) return { days: [day(today)], part, next: at + 2 };
  const shift = NAMED.get(wordAt(0));
  if (shift === undefined) return null;
  const isTonight = wordAt(0) === "tonight";
  const days = [day(today.add({ days: shift }))];
  return { days, part: isTonight ? "evening" : part, next: isTonight || part === null ? at + 1 : at + 2 };
}

/** "in 3 days", "2 weeks ago", "a week from Monday", "two days before tomorrow". */
function countedAt(reading: Reading, at: number): SaidDays | null {
  const { words, today } = reading;
  const isIn = words[at]?.lower === "in";
  const amount = amountAt(words, isIn ? at + 1 : at);
  if (!amount || amount.unit === "hours" || amount.unit === "minutes") return null;
  if (isIn) return { days: [day(today.add(durationOf(amount)))], next: amount.next };
  const offset = words[amount.next]?.lower;
  if (offset === "ago") return { days: [day(today.subtract(durationOf(amount)))], next: amount.next + 1 };
  const isForward = offset === "from" || offset === "after";
  if (!isForward && offset !== "before") return null;
  if (offset === "from" && words[amount.next + 1]?.lower === "now")
    return { days: [day(today.add(durationOf(amount)))], next: amount.next + 2 };
  const anchor = anchorAt(reading, amount.next + 1);
  if (!anchor) return null;
  const moved = ({ from, to }: Days) =>
    day(isForward ? to.add(durationOf(amount)) : from.subtract(durationOf(amount)));
  return { ...anchor, days: anchor.days.map(moved), alsoDays: (anchor.alsoDays ?? []).map(moved) };
}

/** The day from which is counted. It must be direct words: counts cannot be nested. */
function anchorAt(reading: Reading, at: number): SaidDays | null {
  return namedAt(reading, at) ?? weekdayAt(reading, at) ?? periodAt(reading, at) ?? monthDayAt(reading, at);
}

const durationOf = ({ unit, count }: TimeAmount) => ({ [unit]: count });

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
function weekdayAt(reading: DaysReading<MomentWord>, at: number): SaidDays | null {
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
