import type { MomentReading, SaidMoment } from "@planwright/reading";
import type { Token } from "./tokens.ts";

/** A date, a time or both, from the words at one position of the sentence. */
export interface Moment {
  /** As YYYY-MM-DD; null when no date is said. */
  date: string | null;
  /** As HH:MM:SS, with the time zone after it where one is said; null when no time is said. */
  time: string | null;
  /** Date and time in one word, unchanged: "2026-10-01T09:00:00Z". */
  instant: string | null;
  /**
   * True for "tomorrow" or "next monday": the day depends on the current time and the time zone, which may
   * not be known.
   */
  isRelative: boolean;
  /** Days in a row, or the time between two moments: "last week". */
  range?: { from: string; to: string };
  /** First position after the date alone; equal to `next` when no date is said. */
  dateEnd: number;
  next: number;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/i;
const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const DAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const RELATIVE = new Set(["today", "tomorrow", "tonight", "yesterday", ...DAYS]);
const PERIODS = new Set(["week", "month", "year", "weekend", "morning", "afternoon", "evening", ...DAYS]);

/**
 * The input for reading a moment: the tokens, and the meaning of words such as "tomorrow", as far as it is
 * known.
 */
export interface MomentSource {
  tokens: readonly Token[];
  moments: readonly SaidMoment[];
}

/**
 * Reads "2026-11-03 at 14:00", "5 march 2027", "9am on March 5th, 2027", "tomorrow at 9"; null when nothing
 * of the kind is there.
 */
export function momentAt({ tokens, moments }: MomentSource, at: number): Moment | null {
  const said = saidAt({ tokens, moments }, at);
  if (said) return said;
  const first = tokens[at];
  if (!first || first.kind === "quoted" || first.kind === "mark") return null;
  const instant = INSTANT.exec(first.text);
  if (instant) {
    const [, minute = "", seconds = ":00", zone = ""] = instant;
    return { ...NOTHING, instant: `${minute}${seconds}${zone}`, dateEnd: at + 1, next: at + 1 };
  }
  const date = dateAt(tokens, at);
  if (date) {
    const time = timeAt(tokens, skip(tokens, date.next, "at"));
    return {
      ...NOTHING,
      ...date,
      time: time?.time ?? null,
      dateEnd: date.next,
      next: time?.next ?? date.next,
    };
  }
  const time = timeAt(tokens, at);
  if (!time) return null;
  const behind = dateAt(tokens, skip(tokens, time.next, "on"));
  const next = behind?.next ?? time.next;
  return { ...NOTHING, ...behind, time: time.time, dateEnd: next, next };
}

/** The computed moment. For words with two meanings: only that they mean a day. */
function saidAt({ tokens, moments }: MomentSource, at: number): Moment | null {
  const moment = moments.find(({ start }) => start === tokens[at]?.start);
  if (!moment || tokens[at]?.kind === "quoted") return null;
  const [reading, second] = moment.readings;
  const behind = (end: number) => tokens.filter((token) => token.start < end).length;
  const places = { dateEnd: behind(moment.dayEnd), next: behind(moment.end) };
  return { ...NOTHING, ...(reading && !second ? partsOf(reading) : {}), isRelative: true, ...places };
}

function partsOf(reading: MomentReading): Partial<Moment> {
  switch (reading.type) {
    case "day":
      return { date: reading.date };
    case "instant": {
      const [date = null, time = null] = reading.at.split("T");
      return { date, time };
    }
    case "days":
    case "span":
      return { range: { from: reading.from, to: reading.to } };
  }
}

const NOTHING = { date: null, time: null, instant: null, isRelative: false };

const skip = (tokens: readonly Token[], at: number, word: string) =>
  tokens[at]?.lower === word ? at + 1 : at;

function dateAt(
  tokens: readonly Token[],
  at: number,
): { date: string | null; isRelative: boolean; next: number } | null {
  const [first, second] = [tokens[at], tokens[at + 1]];
  if (!first || first.kind === "quoted") return null;
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(first.text);
  if (iso) {
    const date = dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
    return date === null ? null : { date, isRelative: false, next: at + 1 };
  }
  if (RELATIVE.has(first.lower)) return { date: null, isRelative: true, next: at + 1 };
  if ((first.lower === "next" || first.lower === "this") && PERIODS.has(second?.lower ?? ""))
    return { date: null, isRelative: true, next: at + 2 };
  return dayFirst(tokens, at) ?? monthFirst(tokens, at);
}

/** "5 march 2027", "5th of March, 2027". Without the year it is relative. */
function dayFirst(tokens: readonly Token[], at: number) {
  const day = dayOf(tokens[at]);
  const position = skip(tokens, at + 1, "of");
  const month = monthOf(tokens[position]);
  return day === null || month === null ? null : withYear(tokens, position + 1, month, day);
}

/** "March 5 2027", "March 5th, 2027". */
function monthFirst(tokens: readonly Token[], at: number) {
  const month = monthOf(tokens[at]);
  const day = dayOf(tokens[at + 1]);
  return day === null || month === null ? null : withYear(tokens, at + 2, month, day);
}

function withYear(tokens: readonly Token[], at: number, month: number, day: number) {
  const position = skip(tokens, at, ",");
  const year = /^\d{4}$/.test(tokens[position]?.text ?? "") ? Number(tokens[position]?.text) : null;
  if (year === null) return { date: null, isRelative: true, next: at };
  const date = dateOf(year, month, day);
  return date === null ? null : { date, isRelative: false, next: position + 1 };
}

function monthOf(token: Token | undefined): number | null {
  if (token?.kind !== "word" || token.lower.length < 3) return null;
  const month = MONTHS.findIndex((name) => name === token.lower || name.slice(0, 3) === token.lower);
  return month === -1 ? null : month + 1;
}

function dayOf(token: Token | undefined): number | null {
  const day = /^(\d{1,2})(?:st|nd|rd|th)?$/i.exec(token?.text ?? "")?.[1];
  return day === undefined || token?.kind === "quoted" ? null : Number(day);
}

/** The date in ISO form; null when the calendar has no such day. */
function dateOf(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.toISOString().slice(0, 10) : null;
}

/** "14:00", "9am", "3:30 pm", "noon". */
function timeAt(tokens: readonly Token[], at: number): { time: string; next: number } | null {
  const first = tokens[at];
  if (!first || first.kind === "quoted") return null;
  if (first.lower === "noon") return { time: "12:00:00", next: at + 1 };
  const isApart = ["am", "pm"].includes(tokens[at + 1]?.lower ?? "");
  const said = isApart ? `${first.lower}${tokens[at + 1]?.lower}` : first.lower;
  const parts = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(am|pm|h)?$/.exec(said);
  if (!parts || (parts[2] === undefined && parts[4] === undefined)) return null;
  const half = parts[4] === "am" || parts[4] === "pm" ? parts[4] : null;
  const hour = Number(parts[1]);
  const isReal = half === null ? hour < 24 : hour >= 1 && hour <= 12;
  if (!isReal || Number(parts[2] ?? 0) > 59 || Number(parts[3] ?? 0) > 59) return null;
  const full = half === null ? hour : (hour % 12) + (half === "pm" ? 12 : 0);
  const two = (value: number) => String(value).padStart(2, "0");
  const next = isApart ? at + 2 : at + 1;
  const zone = zoneOf(tokens[next]);
  return {
    time: `${two(full)}:${parts[2] ?? "00"}:${parts[3] ?? "00"}${zone ?? ""}`,
    next: zone === null ? next : next + 1,
  };
}

/** "UTC", "Z", "+02:00". Names of places and of summer times are not known. */
function zoneOf(token: Token | undefined): string | null {
  if (token?.kind === "quoted") return null;
  if (["utc", "gmt", "z"].includes(token?.lower ?? "")) return "Z";
  return /^[+-]\d{2}:\d{2}$/.test(token?.text ?? "") ? (token?.text ?? null) : null;
}
