import type { Temporal } from "temporal-polyfill";
import type { Days } from "./calendar.ts";
import type { PartOfDay } from "./clock-time.ts";

/** Days that words mean. */
export interface SaidDays {
  /** Possible meanings, the likeliest first. */
  readonly days: readonly Days[];
  /** Less common meanings, which are not a contradiction. */
  readonly alsoDays?: readonly Days[];
  /** "tomorrow evening". */
  readonly part?: PartOfDay | null;
  readonly next: number;
}

/** The words to read, and the current day. */
export interface DaysReading<Word> {
  readonly words: readonly Word[];
  readonly today: Temporal.PlainDate;
}
