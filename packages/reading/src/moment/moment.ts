import type { PlanningContext } from "@planwright/plan";
import { Temporal } from "temporal-polyfill";

/**
 * A possible meaning of words: a day, consecutive days, a moment, or the time between two moments. Both ends
 * are inclusive. Days are YYYY-MM-DD; moments are RFC 3339 with the offset that holds there then.
 */
export type MomentReading =
  | { readonly type: "day"; readonly date: string }
  | { readonly type: "days"; readonly from: string; readonly to: string }
  | { readonly type: "instant"; readonly at: string }
  | { readonly type: "span"; readonly from: string; readonly to: string };

/** Words of a text that mean a day or a moment relative to now. */
export interface SaidMoment {
  /** The words as written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** End of the words for the day. */
  readonly dayEnd: number;
  /** Possible meanings, the likeliest first; one when they are unambiguous. */
  readonly readings: readonly MomentReading[];
  /** Less common meanings. */
  readonly alsoReadings: readonly MomentReading[];
}

/** A day, or consecutive days. @throws {RangeError} for years without four digits */
export function daysReading({ from, to }: Days): MomentReading {
  if (from.year < 1_000 || to.year > 9_999) throw new RangeError(`No date is written for ${from.toString()}`);
  if (from.equals(to)) return { type: "day", date: from.toString() };
  return { type: "days", from: from.toString(), to: to.toString() };
}

/** An instant as RFC 3339 text with seconds and the offset of a zone. */
export function instantText(instant: Temporal.Instant, timezone: string): string {
  const text = instant
    .toZonedDateTimeISO(timezone)
    .toString({ timeZoneName: "never", smallestUnit: "second" });
  return timezone === "UTC" ? text.replace("+00:00", "Z") : text;
}

/** "Mon 2026-11-23T09:52:11+01:00". */
export function nowText({ now, timezone }: Pick<PlanningContext, "now" | "timezone">): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const { dayOfWeek } = instant.toZonedDateTimeISO(timezone);
  return `${DAYS[dayOfWeek - 1] ?? ""} ${instantText(instant, timezone)}`;
}
const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** A reading as text for people and models: "2026-11-24", "2026-11-16 to 2026-11-22". */
export function readingText(reading: MomentReading): string {
  switch (reading.type) {
    case "day":
      return reading.date;
    case "instant":
      return reading.at;
    case "days":
    case "span":
      return `${reading.from} to ${reading.to}`;
  }
}

/** Consecutive days, inclusive; one day when both ends are equal. */
export interface Days {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
}

/** A calendar period. */
export type Period = "week" | "month" | "quarter" | "year";

/** The current day in the time zone of a context. */
export function todayIn({ now, timezone }: Pick<PlanningContext, "now" | "timezone">): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).toPlainDate();
}

/** One day. */
export const day = (date: Temporal.PlainDate): Days => ({ from: date, to: date });

/** The day with this number (1 for Monday) in the week of a day. Weeks begin on Mondays (ISO 8601). */
export const dayOfWeek = (date: Temporal.PlainDate, weekday: number): Temporal.PlainDate =>
  date.add({ days: weekday - date.dayOfWeek });

/** The period that contains a day, shifted by a number of periods. */
export function periodOf(date: Temporal.PlainDate, period: Period, shift: number): Days {
  switch (period) {
    case "week": {
      const from = dayOfWeek(date, 1).add({ weeks: shift });
      return { from, to: from.add({ days: 6 }) };
    }
    case "month": {
      const from = date.with({ day: 1 }).add({ months: shift });
      return { from, to: from.with({ day: from.daysInMonth }) };
    }
    case "quarter": {
      const first = date.month - ((date.month - 1) % 3);
      const from = date.with({ month: first, day: 1 }).add({ months: 3 * shift });
      return { from, to: from.add({ months: 3 }).subtract({ days: 1 }) };
    }
    case "year": {
      const from = date.with({ month: 1, day: 1 }).add({ years: shift });
      return { from, to: from.add({ years: 1 }).subtract({ days: 1 }) };
    }
  }
}

/** A word, number or sign in a text, with its position. */
export interface MomentWord {
  readonly text: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
}

/** Quoted text is data: "See you tomorrow" does not mean tomorrow. No quote is scanned twice. */
const QUOTED = /"[^"]*"|“[^“”]*”|«[^«»]*»|`[^`]*`/g;
/** A separate sign ends a group of words. */
const WORD = /[+-]\d{2}:\d{2}(?!\d)|[\p{L}\p{N}]+(?:[.:]\d+)*|\S/gu;
const HYPHEN = /(?<=\p{L})-(?=\p{L})/gu;
const HALF_OF_DAY = /\b([ap])\.m\b\.?/gi;

/** The words of a text in order, without quoted text. Takes linear time. */
export function momentWords(text: string): MomentWord[] {
  // Quotes are replaced by blanks, so that positions do not change.
  const plain = text
    .replace(QUOTED, (quoted) => ",".padEnd(quoted.length))
    .replace(HALF_OF_DAY, (said, half: string) => `${half}m`.padEnd(said.length))
    .replace(HYPHEN, " ");
  return [...plain.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: word,
    lower: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

/** A unit of time. */
type TimeUnit = "minutes" | "hours" | "days" | "weeks" | "months" | "years";

/** A number of units. */
export interface TimeAmount {
  readonly count: number;
  readonly unit: TimeUnit;
  readonly next: number;
}

const NUMBERS: ReadonlyMap<string, number> = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    .split(" ")
    .map((word, value) => [word, value]),
);
const UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ["min", "minutes"],
  ["mins", "minutes"],
  ["minute", "minutes"],
  ["minutes", "minutes"],
  ["hr", "hours"],
  ["hrs", "hours"],
  ["hour", "hours"],
  ["hours", "hours"],
  ["day", "days"],
  ["days", "days"],
  ["week", "weeks"],
  ["weeks", "weeks"],
  ["month", "months"],
  ["months", "months"],
  ["year", "years"],
  ["years", "years"],
]);

/** The number of "three" or "14"; null for any other word, and for numbers of more than four digits. */
export function countOf(word: MomentWord | undefined): number | null {
  if (!word) return null;
  return /^\d{1,4}$/.test(word.text) ? Number(word.text) : (NUMBERS.get(word.lower) ?? null);
}

/** The time unit of a word. */
export const unitOf = (word: MomentWord | undefined): TimeUnit | null => UNITS.get(word?.lower ?? "") ?? null;

/**
 * "two hours", "a week", "half an hour", "an hour and a half", "1 hour and 20 minutes", "a fortnight"; null without an
 * amount of time, and for other sums ("a week and a half", "2 days and 3 hours").
 */
export function amountAt(words: readonly MomentWord[], at: number): TimeAmount | null {
  const amount = plainAmountAt(words, at);
  if (!amount || words[amount.next]?.lower !== "and") return amount;
  const isHalf = words[amount.next + 1]?.lower === "a" && words[amount.next + 2]?.lower === "half";
  const further = isHalf ? null : plainAmountAt(words, amount.next + 1);
  if (!isHalf && !further) return amount;
  const { count: minutes, unit, next } = further ?? { count: 30, unit: "minutes", next: amount.next + 3 };
  if (amount.unit !== "hours" || unit !== "minutes") return null;
  return { count: amount.count * 60 + minutes, unit, next };
}

function plainAmountAt(words: readonly MomentWord[], at: number): TimeAmount | null {
  const [first, second, third] = [words[at]?.lower, words[at + 1]?.lower, words[at + 2]?.lower];
  if (first === "half" && (second === "an" || second === "a") && third === "hour")
    return { count: 30, unit: "minutes", next: at + 3 };
  const isOne = first === "a" || first === "an";
  if (isOne && second === "fortnight") return { count: 2, unit: "weeks", next: at + 2 };
  const count = isOne ? 1 : countOf(words[at]);
  const unit = unitOf(words[at + 1]);
  return count === null || unit === null ? null : { count, unit, next: at + 2 };
}
