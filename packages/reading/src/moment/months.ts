import { Temporal } from "temporal-polyfill";
import { type Days, day } from "./calendar.ts";
import type { MomentWord } from "./moment-words.ts";
import type { DaysReading, SaidDays } from "./said-days.ts";

const NAMES = "january february march april may june july august september october november december".split(
  " ",
);
/** Words that refer to the past: "since March 5". */
const PAST = new Set(["since", "last"]);
/** Words that are months only when written as names. */
const ALSO_WORDS = new Set(["march", "mar", "may"]);

/** Number of the month that a word names, from 1. "may 5" is not a day; "May 5" and "5 may" are. */
export function monthOf(word: MomentWord | undefined): number | null {
  const isWord = ALSO_WORDS.has(word?.lower ?? "") && !/^\p{Lu}/u.test(word?.text ?? "");
  return isWord ? null : monthNamed(word);
}

/** Number of the month for a word that is unambiguous. */
export function monthNamed(word: MomentWord | undefined): number | null {
  if (!word || word.lower.length < 3) return null;
  const at = NAMES.findIndex((name) => name === word.lower || name.slice(0, 3) === word.lower);
  return at === -1 && word.lower !== "sept" ? null : at === -1 ? 9 : at + 1;
}

const dayNumber = (word: MomentWord | undefined): number | null => {
  const said = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word?.lower ?? "")?.[1];
  return said === undefined ? null : Number(said);
};
const isYear = (word: MomentWord | undefined) => /^\d{4}$/.test(word?.text ?? "");

/** "March 5", "5th of March", without a year: with a year it does not depend on now. */
export function monthDayAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
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
export function comingMonth(today: Temporal.PlainDate, month: number): Days {
  const year = month >= today.month ? today.year : today.year + 1;
  const from = new Temporal.PlainDate(year, month, 1);
  return { from, to: from.with({ day: from.daysInMonth }) };
}
