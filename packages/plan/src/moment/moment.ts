import { Temporal } from "temporal-polyfill";
import type { Days } from "./calendar.ts";
import type { PlanningContext } from "./planning-context.ts";

/**
 * What words may mean: a day, days in a row, a moment, or the time between two moments. Both ends are
 * included.
 */
export type MomentReading =
  | { readonly type: "day" /** YYYY-MM-DD */; readonly date: string }
  | { readonly type: "days"; readonly from: string; readonly to: string }
  | { readonly type: "instant" /** RFC 3339 with the offset that holds there then. */; readonly at: string }
  | { readonly type: "span"; readonly from: string; readonly to: string };

/** Words of a text that mean a day or a moment in relation to now. */
export interface SaidMoment {
  /** As they stand there. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Where the words for the day alone end. */
  readonly dayEnd: number;
  /** What they may mean, the likeliest first; one where they are clear. */
  readonly readings: readonly MomentReading[];
  /** What some people mean by them too. */
  readonly alsoReadings: readonly MomentReading[];
}

/** A day, or days in a row. @throws {RangeError} for years that have not four digits */
export function daysReading({ from, to }: Days): MomentReading {
  if (from.year < 1_000 || to.year > 9_999) throw new RangeError(`No date is written for ${from.toString()}`);
  if (from.equals(to)) return { type: "day", date: from.toString() };
  return { type: "days", from: from.toString(), to: to.toString() };
}

/** An instant as RFC 3339 text, to the second, with the offset of a zone. */
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

/** A reading as people and models read it: "2026-11-24", "2026-11-16 to 2026-11-22". */
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
