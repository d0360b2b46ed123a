import type { Temporal } from "temporal-polyfill";
import { type Days, day, dayOfWeek, type Period, periodOf } from "./calendar.ts";
import { countOf, unitOf } from "./moment-numbers.ts";
import type { MomentWord } from "./moment-words.ts";
import { comingMonth, monthOf } from "./months.ts";
import type { DaysReading, SaidDays } from "./said-days.ts";

const PERIODS: ReadonlySet<string> = new Set<Period>(["week", "month", "quarter", "year"]);
const SHIFTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ last: -1, previous: -1, this: 0, current: 0, next: 1, following: 1, coming: 1 }),
);

const isPeriod = (word: string | undefined): word is Period => word !== undefined && PERIODS.has(word);

/**
 * "last week", "the next 3 days", "this weekend", "end of next month": consecutive days, or the day at one
 * end of them.
 */
export function periodAt(reading: DaysReading<MomentWord>, at: number): SaidDays | null {
  return (
    edgeAt(reading, at) ?? rollingAt(reading, at) ?? weekendAt(reading, at) ?? wholePeriodAt(reading, at)
  );
}

/** "last week", "this year". Some people mean the period of this length until now. */
function wholePeriodAt({ words, today }: DaysReading<MomentWord>, at: number): SaidDays | null {
  const shift = SHIFTS.get(words[at]?.lower ?? "");
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
  const shift = SHIFTS.get(words[at]?.lower ?? "");
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
  return found && { days: [day(found.days[edge])], next: found.next };
}

function spanAt(
  words: readonly MomentWord[],
  today: Temporal.PlainDate,
  at: number,
): { days: Days; next: number } | null {
  const shift = SHIFTS.get(words[at]?.lower ?? "");
  const position = shift === undefined ? at : at + 1;
  const word = words[position]?.lower;
  if (isPeriod(word)) return { days: periodOf(today, word, shift ?? 0), next: position + 1 };
  if (shift === undefined && (word === "day" || word === "today")) return { days: day(today), next: at + 1 };
  const month = shift === undefined ? monthOf(words[at]) : null;
  const isDated = /^\d{4}$/.test(words[at + 1]?.text ?? "");
  return month === null || isDated ? null : { days: comingMonth(today, month), next: at + 1 };
}
