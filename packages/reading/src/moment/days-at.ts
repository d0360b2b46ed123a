import { Temporal } from "temporal-polyfill";
import {
  amountAt,
  countOf,
  type Days,
  day,
  dayOfWeek,
  type MomentWord,
  type Period,
  periodOf,
  type TimeAmount,
  unitOf,
} from "./moment.ts";

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

/** Days that words mean. */
export interface SaidDays {
  /** Possible meanings, the likeliest first. */
  readonly days: readonly Days[];
  /** Less common meanings, which are not a contradiction. */
  readonly alsoDays?: readonly Days[];
  /** "tomorrow evening". */
  readonly part?: PartOfDay | null;
  readonly next: number;
}

/** The words to read, and the current day. */
interface DaysReading<Word> {
  readonly words: readonly Word[];
  readonly today: Temporal.PlainDate;
}

/** A part of the day. */
type PartOfDay = "morning" | "afternoon" | "evening";

/** A time of day in words. */
export interface ClockTime {
  /** Possible times; several when the half of the day is unknown. */
  readonly times: readonly Temporal.PlainTime[];
  /** Time zone after the time; undefined: that of the context; null: the moment cannot be computed. */
  readonly zone: string | null | undefined;
  readonly next: number;
}

const PARTS: ReadonlyMap<string, PartOfDay> = new Map([
  ["morning", "morning"],
  ["afternoon", "afternoon"],
  ["evening", "evening"],
  ["night", "evening"],
]);
const TIME = /^(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))?(am|pm|h)?$/;
/** Words that may follow a bare hour: any other word may be a counted thing ("at 5 stores"). */
const AFTER_HOUR = new Set(
  "and then or for with to in on by via from until till about titled called named tomorrow today next this utc gmt z o please sharp".split(
    " ",
  ),
);
/** Abbreviations that are ambiguous or unknown as time zones. */
const OTHER_ZONE = /^(?:[A-Z]{1,3}[SD]?T|CES?T|EES?T|WES?T)$/;

/** "morning" and its synonyms. */
export const partOfDay = (word: MomentWord | undefined): PartOfDay | null =>
  PARTS.get(word?.lower ?? "") ?? null;

/** Reads "9am", "14:30", "noon", and a bare hour after "at"; null when there is no time. */
export function clockTimeAt(
  words: readonly MomentWord[],
  at: number,
  part: PartOfDay | null,
): ClockTime | null {
  const isBehindAt = words[at]?.lower === "at" || words[at]?.lower === "@";
  const start = isBehindAt ? at + 1 : at;
  if (words[start]?.lower === "noon")
    return { times: [Temporal.PlainTime.from("12:00")], ...zoneAt(words, start + 1) };
  const said = TIME.exec(words[start]?.lower ?? "");
  if (!said) return null;
  const apart = ["am", "pm"].find((half) => half === words[start + 1]?.lower);
  const half = said[4] ?? apart;
  const next = start + (said[4] === undefined && apart !== undefined ? 2 : 1);
  const isBare = said[2] === undefined && half === undefined;
  if (isBare && !(isBehindAt && mayFollowHour(words[next]))) return null;
  // "tonight at 12" or "at 1am" is in the night to the next day.
  if (half !== "pm" && part === "evening" && (Number(said[1]) < 5 || Number(said[1]) === 12))
    return { times: [], zone: null, next };
  const afterTime = words[next]?.lower === "o" && words[next + 2]?.lower === "clock" ? next + 3 : next;
  const hours = hoursOf(Number(said[1]), half === "h" ? undefined : half, part);
  const [minute, second] = [Number(said[2] ?? 0), Number(said[3] ?? 0)];
  if (hours.length === 0 || minute > 59 || second > 59) return null;
  return {
    times: hours.map((hour) => new Temporal.PlainTime(hour, minute, second)),
    ...zoneAt(words, afterTime),
  };
}

const mayFollowHour = (word: MomentWord | undefined): boolean =>
  word === undefined ||
  AFTER_HOUR.has(word.lower) ||
  partOfDay(word) !== null ||
  OTHER_ZONE.test(word.text) ||
  !/^[\p{L}\p{N}]/u.test(word.text);

/** The possible hours, from 0; none for an invalid time. */
function hoursOf(hour: number, half: string | undefined, part: PartOfDay | null): number[] {
  if (half !== undefined) return hour >= 1 && hour <= 12 ? [(hour % 12) + (half === "pm" ? 12 : 0)] : [];
  if (hour > 23) return [];
  if (hour === 0 || hour >= 12) return [hour];
  if (part !== null) return [part === "morning" ? hour : hour + 12];
  return hour <= 6 ? [hour + 12, hour] : [hour];
}

function zoneAt(words: readonly MomentWord[], at: number): Pick<ClockTime, "zone" | "next"> {
  const word = words[at];
  if (!word) return { zone: undefined, next: at };
  if (["utc", "gmt", "z"].includes(word.lower)) return { zone: "UTC", next: at + 1 };
  if (/^[+-]\d{2}:\d{2}$/.test(word.text)) return { zone: word.text, next: at + 1 };
  return OTHER_ZONE.test(word.text) ? { zone: null, next: at + 1 } : { zone: undefined, next: at };
}

const MONTH_NAMES =
  "january february march april may june july august september october november december".split(" ");
/** Words that refer to the past: "since March 5". */
const PAST = new Set(["since", "last"]);
/** Words that are months only when written as names. */
const ALSO_WORDS = new Set(["march", "mar", "may"]);

/** Number of the month that a word names, from 1. "may 5" is not a day; "May 5" and "5 may" are. */
function monthOf(word: MomentWord | undefined): number | null {
  const isWord = ALSO_WORDS.has(word?.lower ?? "") && !/^\p{Lu}/u.test(word?.text ?? "");
  return isWord ? null : monthNamed(word);
}

/** Number of the month for a word that is unambiguous. */
export function monthNamed(word: MomentWord | undefined): number | null {
  if (!word || word.lower.length < 3) return null;
  const at = MONTH_NAMES.findIndex((name) => name === word.lower || name.slice(0, 3) === word.lower);
  return at === -1 && word.lower !== "sept" ? null : at === -1 ? 9 : at + 1;
}

const dayNumber = (word: MomentWord | undefined): number | null => {
  const said = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word?.lower ?? "")?.[1];
  return said === undefined ? null : Number(said);
};
const isYear = (word: MomentWord | undefined) => /^\d{4}$/.test(word?.text ?? "");

/** "March 5", "5th of March", without a year: with a year it does not depend on now. */
function monthDayAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const said = monthFirst(words, at) ?? dayFirst(words, at);
  if (!said) return null;
  const comma = words[said.next]?.text === "," ? said.next + 1 : said.next;
  if (isYear(words[comma])) return null;
  const dates = [-1, 0, 1].map((shift) => dateIn(today.year + shift, said)).filter((date) => date !== null);
  const coming = dates.find((date) => Temporal.PlainDate.compare(date, today) >= 0);
  const past = dates.findLast((date) => Temporal.PlainDate.compare(date, today) < 0);
  if (past && PAST.has(words[at - 1]?.lower ?? "")) return { days: [day(past)], next: said.next };
  if (!coming) return null;
  // In November "March 5" may be the last one or the next one.
  const isOpen = past?.year === today.year;
  return {
    days: isOpen ? [day(coming), day(past)] : [day(coming)],
    alsoDays: past && !isOpen ? [day(past)] : [],
    next: said.next,
  };
}

interface MonthDay {
  readonly month: number;
  readonly day: number;
  readonly next: number;
}

function monthFirst(words: readonly MomentWord[], at: number): MonthDay | null {
  const [month, number] = [monthOf(words[at]), dayNumber(words[at + 1])];
  return month === null || number === null ? null : { month, day: number, next: at + 2 };
}

function dayFirst(words: readonly MomentWord[], at: number): MonthDay | null {
  const number = dayNumber(words[at]);
  const position = words[at + 1]?.lower === "of" ? at + 2 : at + 1;
  const month = monthNamed(words[position]);
  return month === null || number === null ? null : { month, day: number, next: position + 1 };
}

function dateIn(year: number, { month, day: number }: MonthDay): Temporal.PlainDate | null {
  if (number < 1 || number > new Temporal.PlainYearMonth(year, month).daysInMonth) return null;
  return new Temporal.PlainDate(year, month, number);
}

/** The current month if it has that name, otherwise the next one that has it. */
function comingMonth(today: Temporal.PlainDate, month: number): Days {
  const year = month >= today.month ? today.year : today.year + 1;
  const from = new Temporal.PlainDate(year, month, 1);
  return { from, to: from.with({ day: from.daysInMonth }) };
}

const PERIODS: ReadonlySet<string> = new Set<Period>(["week", "month", "quarter", "year"]);
const PERIOD_SHIFTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ last: -1, previous: -1, this: 0, current: 0, next: 1, following: 1, coming: 1 }),
);

const isPeriod = (word: string | undefined): word is Period => word !== undefined && PERIODS.has(word);

/**
 * "last week", "the next 3 days", "this weekend", "end of next month": consecutive days, or the day at one
 * end of them.
 */
function periodAt(reading: DaysReading<MomentWord>, at: number): SaidDays | null {
  return (
    edgeAt(reading, at) ?? rollingAt(reading, at) ?? weekendAt(reading, at) ?? wholePeriodAt(reading, at)
  );
}

/** "last week", "this year". Some people mean the period of this length until now. */
function wholePeriodAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const shift = PERIOD_SHIFTS.get(words[at]?.lower ?? "");
  const period = words[at + 1]?.lower;
  if (shift === undefined || !isPeriod(period)) return null;
  const days = periodOf(today, period, shift);
  const isSince = shift === -1 && period !== "quarter";
  const rolling = isSince ? [{ from: today.subtract({ [`${period}s`]: 1 }), to: today }] : [];
  // The week when weeks begin on Sundays.
  const sunday = period === "week" ? [{ from: days.from.subtract({ days: 1 }), to: days.to }] : [];
  return { days: [days], alsoDays: [...rolling, ...sunday], next: at + 2 };
}

/** "the last 7 days", "past week", "next 2 weeks": counted from today. */
function rollingAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const word = words[at]?.lower ?? "";
  const isBack = ["last", "past", "previous"].includes(word);
  if (!isBack && word !== "next" && word !== "coming") return null;
  const count = countOf(words[at + 1]);
  const isOne = word === "past" && count === null;
  const unit = unitOf(words[isOne ? at + 1 : at + 2]);
  if (unit === null || unit === "hours" || unit === "minutes" || (count === null && !isOne)) return null;
  const amount = { [unit]: count ?? 1 };
  const days = isBack ? { from: today.subtract(amount), to: today } : { from: today, to: today.add(amount) };
  return { days: [days], next: isOne ? at + 2 : at + 3 };
}

/** "this weekend", "next weekend". */
function weekendAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const shift = PERIOD_SHIFTS.get(words[at]?.lower ?? "");
  if (shift === undefined || words[at + 1]?.lower !== "weekend") return null;
  const weekendIn = (weeks: number): Days => {
    const week = periodOf(today, "week", weeks);
    return { from: dayOfWeek(week.from, 6), to: week.to };
  };
  const isOpen = shift === 1 && today.dayOfWeek < 6;
  return { days: [weekendIn(shift)], alsoDays: isOpen ? [weekendIn(0)] : [], next: at + 2 };
}

const ENDS: ReadonlyMap<string, "from" | "to"> = new Map([
  ["end", "to"],
  ["close", "to"],
  ["beginning", "from"],
  ["start", "from"],
]);

/** "end of month", "the start of next week", "last day of the year", "end of March". */
function edgeAt(reading: DaysReading<MomentWord>, at: number): SaidDays | null {
  const { words, today } = reading;
  const word = words[at]?.lower ?? "";
  const isDay = words[at + 1]?.lower === "day";
  const edge =
    ENDS.get(word) ?? (isDay && word === "last" ? "to" : isDay && word === "first" ? "from" : undefined);
  const of = ENDS.has(word) ? at + 1 : at + 2;
  if (edge === undefined || words[of]?.lower !== "of") return null;
  const start = words[of + 1]?.lower === "the" ? of + 2 : of + 1;
  const found = spanAt(words, today, start);
  if (!found) return null;
  const { days, next } = found;
  // For many people a week ends on its Friday.
  const isWeek = edge === "to" && words[next - 1]?.lower === "week";
  const alsoDays = isWeek ? [5, 6].map((weekday) => day(dayOfWeek(days.to, weekday))) : [];
  return { days: [day(days[edge])], alsoDays, next };
}

function spanAt(
  words: readonly MomentWord[],
  today: Temporal.PlainDate,
  at: number,
): { days: Days; next: number } | null {
  const shift = PERIOD_SHIFTS.get(words[at]?.lower ?? "");
  const position = shift === undefined ? at : at + 1;
  const word = words[position]?.lower;
  if (isPeriod(word)) return { days: periodOf(today, word, shift ?? 0), next: position + 1 };
  if (shift === undefined && (word === "day" || word === "today")) return { days: day(today), next: at + 1 };
  const month = shift === undefined ? monthOf(words[at]) : null;
  const isDated = /^\d{4}$/.test(words[at + 1]?.text ?? "");
  return month === null || isDated ? null : { days: comingMonth(today, month), next: at + 1 };
}
