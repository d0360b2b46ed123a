import { Temporal } from "temporal-polyfill";
import type { DateValue } from "./date-values.ts";
import type { MomentReading } from "./moment.ts";

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
