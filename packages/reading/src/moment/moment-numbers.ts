import type { MomentWord } from "./moment-words.ts";

/** A unit of time. */
export type TimeUnit = "minutes" | "hours" | "days" | "weeks" | "months" | "years";

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

/** "two hours", "a week", "half an hour", "a fortnight"; null without an amount of time. */
export function amountAt(words: readonly MomentWord[], at: number): TimeAmount | null {
  const [first, second, third] = [words[at]?.lower, words[at + 1]?.lower, words[at + 2]?.lower];
  if (first === "half" && (second === "an" || second === "a") && third === "hour")
    return { count: 30, unit: "minutes", next: at + 3 };
  const isOne = first === "a" || first === "an";
  if (isOne && second === "fortnight") return { count: 2, unit: "weeks", next: at + 2 };
  const count = isOne ? 1 : countOf(words[at]);
  const unit = unitOf(words[at + 1]);
  return count === null || unit === null ? null : { count, unit, next: at + 2 };
}
