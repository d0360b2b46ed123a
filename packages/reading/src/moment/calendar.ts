import { type PlanningContext } from "@planwright/plan";
import { Temporal } from "temporal-polyfill";

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
