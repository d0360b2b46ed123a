import type { Temporal } from "temporal-polyfill";
import type { Days } from "./calendar.ts";
import type { PartOfDay } from "./clock-time.ts";

/** Days as words say them. */
export interface SaidDays {
  /** What they may mean, the likeliest first. */
  readonly days: readonly Days[];
  /** What some people mean by them too: no contradiction. */
  readonly alsoDays?: readonly Days[];
  /** "tomorrow evening". */
  readonly part?: PartOfDay | null;
  readonly next: number;
}

/** Where words are read: the day that it is, and the words. */
export interface DaysReading<Word> {
  readonly words: readonly Word[];
  readonly today: Temporal.PlainDate;
}
