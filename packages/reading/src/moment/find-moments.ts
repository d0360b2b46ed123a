import type { PlanningContext } from "@planwright/plan";
import { Temporal } from "temporal-polyfill";
import { type ClockTime, clockTimeAt, daysAt, partOfDay, type SaidDays } from "./days-at.ts";
import {
  amountAt,
  countOf,
  daysReading,
  instantText,
  type MomentReading,
  type MomentWord,
  momentWords,
  type SaidMoment,
  todayIn,
  unitOf,
} from "./moment.ts";

/** The days and moments that the words of a text mean. */
export interface FoundMoments {
  readonly moments: readonly SaidMoment[];
  /**
   * True when other words change days ("every", "the day before the party"): then the source of a date cannot
   * be determined.
   */
  readonly isOpen: boolean;
}

type Now = Pick<PlanningContext, "now" | "timezone">;
interface Found extends Pick<SaidMoment, "readings" | "alsoReadings"> {
  /** Position of the words after the day. */
  readonly dayNext: number;
  readonly next: number;
  readonly isOpen?: boolean;
}

/** Maximum number of moments; real requests have fewer. */
const MAX_MOMENTS = 20;
/** Words that change the meaning of days near them. */
const MOVING = new Set(
  "every each daily weekly biweekly monthly quarterly yearly annually hourly recurring repeat repeats repeating before after prior earlier later between within".split(
    " ",
  ),
);

/**
 * The words of a text that mean days and moments relative to now, in English: "tomorrow at 9", "in two
 * hours", "next Monday", "last week", "end of month", "March 5" without a year. Computed in the context's
 * time zone, with summer time. Quoted text and full dates do not count. Pure; takes linear time.
 */
export function findMoments(text: string, now: Now): FoundMoments {
  const words = momentWords(text);
  const today = todayIn(now);
  const moments: SaidMoment[] = [];
  let isOpen = false;
  let at = 0;
  while (at < words.length) {
    const found = moments.length < MAX_MOMENTS ? momentAt({ words, today, now }, at) : null;
    if (!found) {
      isOpen ||= MOVING.has(words[at]?.lower ?? "");
      at += 1;
      continue;
    }
    moments.push(placed(text, words, at, found));
    isOpen ||= found.isOpen === true;
    at = found.next;
  }
  return { moments, isOpen };
}

function placed(text: string, words: readonly MomentWord[], at: number, found: Found): SaidMoment {
  const { readings, alsoReadings } = found;
  const start = words[at]?.start ?? 0;
  const endOf = (next: number) => words[next - 1]?.end ?? start;
  const end = endOf(found.next);
  return { text: text.slice(start, end), start, end, dayEnd: endOf(found.dayNext), readings, alsoReadings };
}

interface Reading {
  readonly words: readonly MomentWord[];
  readonly today: Temporal.PlainDate;
  readonly now: Now;
}

function momentAt(reading: Reading, at: number): Found | null {
  try {
    return countedInstant(reading, at) ?? timeFirst(reading, at) ?? dayFirst(reading, at);
  } catch (error) {
    // "in 9999 years" is beyond the calendar.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** "in two hours", "30 minutes ago", "the last 2 hours". */
function countedInstant({ words, now }: Reading, at: number): Found | null {
  const said = words[at]?.lower ?? "";
  const instant = Temporal.Instant.fromEpochMilliseconds(now.now.getTime());
  const text = (moment: Temporal.Instant) => instantText(moment, now.timezone);
  const rolling = ["last", "past", "next"].includes(said) ? countOf(words[at + 1]) : null;
  const unit = rolling === null ? null : unitOf(words[at + 2]);
  if (rolling !== null && (unit === "hours" || unit === "minutes")) {
    const other = said === "next" ? instant.add({ [unit]: rolling }) : instant.subtract({ [unit]: rolling });
    const [from, to] = said === "next" ? [instant, other] : [other, instant];
    return found([{ type: "span", from: text(from), to: text(to) }], at + 3);
  }
  const amount = amountAt(words, said === "in" ? at + 1 : at);
  if (!amount || (amount.unit !== "hours" && amount.unit !== "minutes")) return null;
  const duration = { [amount.unit]: amount.count };
  const wordAfter = words[amount.next]?.lower;
  if (said === "in") return found([{ type: "instant", at: text(instant.add(duration)) }], amount.next);
  if (wordAfter === "ago")
    return found([{ type: "instant", at: text(instant.subtract(duration)) }], amount.next + 1);
  const isFromNow = wordAfter === "from" && words[amount.next + 1]?.lower === "now";
  return isFromNow ? found([{ type: "instant", at: text(instant.add(duration)) }], amount.next + 2) : null;
}

const found = (readings: readonly MomentReading[], next: number): Found => ({
  readings,
  alsoReadings: [],
  dayNext: next,
  next,
});

/** "at 9am tomorrow", "3pm on Friday". */
function timeFirst(reading: Reading, at: number): Found | null {
  const plain = clockTimeAt(reading.words, at, null);
  if (!plain) return null;
  const start = reading.words[plain.next]?.lower === "on" ? plain.next + 1 : plain.next;
  const days = daysAt(reading, start);
  const time = days && clockTimeAt(reading.words, at, days.part ?? null);
  return time ? together(reading, days, { ...time, next: days.next }) : null;
}

/** "tomorrow", "tomorrow at 9", "Friday, 14:30", "tomorrow at 8 in the evening". */
function dayFirst(reading: Reading, at: number): Found | null {
  const days = daysAt(reading, at);
  if (!days) return null;
  const { words } = reading;
  const start = words[days.next]?.text === "," ? days.next + 1 : days.next;
  const plain = clockTimeAt(words, start, days.part ?? null);
  if (!plain) return together(reading, days, null);
  const isInThe = words[plain.next]?.lower === "in" && words[plain.next + 1]?.lower === "the";
  const part = isInThe ? partOfDay(words[plain.next + 2]) : null;
  const time = part === null ? plain : clockTimeAt(words, start, part);
  return together(reading, days, time && (part === null ? time : { ...time, next: plain.next + 3 }));
}

/** A day with its time. When the moment cannot be computed, only the day counts, and consecutive days have no time. */
function together({ now }: Reading, said: SaidDays, time: ClockTime | null): Found {
  const only = {
    readings: said.days.map(daysReading),
    alsoReadings: (said.alsoDays ?? []).map(daysReading),
    dayNext: said.next,
  };
  const isRange = said.days.some(({ from, to }) => !from.equals(to));
  if (!time || isRange) return { ...only, next: said.next };
  if (time.zone === null) return { ...only, next: time.next, isOpen: true };
  const timezone = time.zone ?? now.timezone;
  const instantsOf = (days: SaidDays["days"]): MomentReading[] =>
    days.flatMap(({ from }) =>
      time.times.map((plainTime) => ({
        type: "instant" as const,
        at: instantText(from.toZonedDateTime({ timeZone: timezone, plainTime }).toInstant(), timezone),
      })),
    );
  return {
    readings: instantsOf(said.days),
    alsoReadings: instantsOf(said.alsoDays ?? []),
    dayNext: said.next,
    next: time.next,
  };
}
