import { type PlanningContext } from "@planwright/plan";
import { Temporal } from "temporal-polyfill";
import type { Days } from "./calendar.ts";

/**
 * A possible meaning of words: a day, consecutive days, a moment, or the time between two moments. Both ends
 * are inclusive.
 */
export type MomentReading =
  | { readonly type: "day" /** YYYY-MM-DD */; readonly date: string }
  | { readonly type: "days"; readonly from: string; readonly to: string }
  | { readonly type: "instant" /** RFC 3339 with the offset that holds there then. */; readonly at: string }
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
