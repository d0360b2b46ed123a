import { Temporal } from "temporal-polyfill";
import { monthNamed } from "./days-at.ts";
import { type MomentReading, momentWords } from "./moment.ts";

/** A text or number that is a day or a moment. */
export interface DateValue {
  /** YYYY-MM-DD; several when day and month cannot be distinguished. */
  readonly dates: readonly string[];
  /** HH:MM as written; null without a time. */
  readonly time: string | null;
  /** Null without a time zone. */
  readonly instant: Temporal.Instant | null;
  /** True for ISO 8601, which is always a date. */
  readonly isPlain: boolean;
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2})?(?:\.\d{1,9})?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const SLASHED = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const PARTS = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$/;
/** Longer texts contain more than a date. */
const MAX_LENGTH = 40;

/** The date of a value in a form that tools accept; null for any other value. */
export function dateValueOf(value: string | number): DateValue | null {
  if (typeof value === "number") return ofEpoch(value);
  const text = value.trim();
  if (text.length > MAX_LENGTH) return null;
  const iso = ISO.exec(text);
  if (iso) return ofIso(text, iso);
  if (/^\d{10}(?:\d{3})?$/.test(text)) return ofEpoch(Number(text));
  const dates = datesIn(text);
  return dates.length === 0 ? null : { dates, time: null, instant: null, isPlain: false };
}

/** Maximum number of possible dates in one text. */
const MAX_PARTS = 5_000;
const NUMERIC = /\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?<!\d)\d{8}(?!\d)/g;

/** The full dates with year in a text. */
export function datesSaidIn(text: string): ReadonlySet<string> {
  const words = momentWords(text)
    .filter(({ text: word }) => word !== ",")
    .slice(0, MAX_PARTS);
  const named = words.flatMap((_, at) =>
    datesIn(
      words
        .slice(at, at + 3)
        .map((word) => word.text)
        .join(" "),
    ),
  );
  const numeric = [...text.matchAll(NUMERIC)]
    .slice(0, MAX_PARTS)
    .flatMap(([each]) => dateValueOf(each)?.dates ?? []);
  return new Set([...named, ...numeric]);
}

function ofIso(text: string, [, date = "", time, zone]: RegExpExecArray): DateValue | null {
  if (!isDate(date)) return null;
  const instant = zone === undefined ? null : instantOf(text);
  return { dates: [date], time: time ?? null, instant, isPlain: true };
}

function instantOf(text: string): Temporal.Instant | null {
  const milliseconds = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(milliseconds) ? null : Temporal.Instant.fromEpochMilliseconds(milliseconds);
}

/** A date of this century from seconds or milliseconds since 1970. */
function ofEpoch(value: number): DateValue | null {
  const milliseconds = value < 1e11 ? value * 1_000 : value;
  if (!Number.isInteger(value) || milliseconds < 9e11 || milliseconds > 4e12) return null;
  return {
    dates: [],
    time: null,
    instant: Temporal.Instant.fromEpochMilliseconds(milliseconds),
    isPlain: false,
  };
}

function datesIn(text: string): string[] {
  const ordered = SLASHED.exec(text) ?? COMPACT.exec(text);
  if (ordered) return real([[ordered[1], ordered[2], ordered[3]]]);
  const parts = PARTS.exec(text);
  if (parts) {
    const [, one, other, year] = parts;
    return real([
      [year, other, one],
      [year, one, other],
    ]);
  }
  const words = momentWords(text.replace(/(\d)(?:st|nd|rd|th)\b/i, "$1")).filter((word) => word.text !== ",");
  const month = words.map(monthNamed).find((each) => each !== null);
  const numbers = words.flatMap(({ text: word }) => (/^\d{1,4}$/.test(word) ? [word] : []));
  if (words.length !== 3 || month === undefined || numbers.length !== 2) return [];
  return real([[numbers[1], String(month), numbers[0]]]);
}

function real(dates: readonly (readonly (string | undefined)[])[]): string[] {
  const written = dates.map((date) => date.map((part = "") => part.padStart(2, "0")).join("-"));
  return [...new Set(written.filter(isDate))];
}

function isDate(date: string): boolean {
  const milliseconds = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(date);
}

/** Tolerance, because seconds are often left out. */
const TOLERANCE_MS = 60_000;

/**
 * True when a value is the day or moment that the words mean, in the precision of the value; for consecutive
 * days one of them, or the day after them.
 */
export function fitsMoment(value: DateValue, reading: MomentReading, timezone: string): boolean {
  switch (reading.type) {
    case "day":
      return datesOf(value, timezone).includes(reading.date);
    case "days":
      return datesOf(value, timezone).some((date) => date >= reading.from && date <= dayAfter(reading.to));
    case "instant":
      return isWithin(value, reading.at, reading.at);
    case "span":
      return isWithin(value, reading.from, reading.to);
  }
}

/** The dates as written, and in the time zone of the context. */
function datesOf({ dates, instant }: DateValue, timezone: string): string[] {
  return instant ? [...dates, instant.toZonedDateTimeISO(timezone).toPlainDate().toString()] : [...dates];
}

const dayAfter = (date: string) => Temporal.PlainDate.from(date).add({ days: 1 }).toString();

/** Compares instants when a zone is given, else the written time, else the day. */
function isWithin({ dates, time, instant }: DateValue, from: string, to: string): boolean {
  if (instant) {
    const { epochMilliseconds } = instant;
    return (
      epochMilliseconds >= Date.parse(from) - TOLERANCE_MS &&
      epochMilliseconds <= Date.parse(to) + TOLERANCE_MS
    );
  }
  const length = time === null ? "YYYY-MM-DD".length : "YYYY-MM-DDTHH:MM".length;
  const [first, last] = [from.slice(0, length), to.slice(0, length)];
  return dates.some((date) => {
    const written = time === null ? date : `${date}T${time}`;
    return written >= first && written <= last;
  });
}
