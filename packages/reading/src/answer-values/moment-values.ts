import { type PlanningContext } from "@planwright/plan";
import { type DateValue, dateValueOf } from "../moment/date-values.ts";
import { type FoundMoments, findMoments } from "../moment/find-moments.ts";
import type { SaidMoment } from "../moment/moment.ts";
import { fitsMoment } from "../moment/moment-fits.ts";

/** The days and moments that the words of a request mean. */
export interface MomentValues extends FoundMoments {
  /** True when a date is a possible meaning of the words of one moment. */
  fits(date: DateValue, moment: SaidMoment): boolean;
  /** True for a value that is the meaning of words in the request. */
  gives(value: string | number): boolean;
}

/** Computes them; none without a request or when the current day is unknown. */
export function createMomentValues(
  query: string | undefined,
  context: PlanningContext | undefined,
): MomentValues {
  if (query === undefined || !context)
    return { moments: [], isOpen: false, fits: () => false, gives: () => false };
  const said = findMoments(query, context);
  const fits = (date: DateValue, { readings, alsoReadings }: SaidMoment): boolean =>
    [...readings, ...alsoReadings].some((reading) => fitsMoment(date, reading, context.timezone));
  return {
    ...said,
    fits,
    gives(value) {
      const date = said.moments.length > 0 ? dateValueOf(value) : null;
      return date !== null && said.moments.some((moment) => fits(date, moment));
    },
  };
}
