import { Temporal } from "temporal-polyfill";
import type { MomentWord } from "./moment-words.ts";

/** A part of the day. */
export type PartOfDay = "morning" | "afternoon" | "evening";

/** A time of day in words. */
export interface ClockTime {
  /** Possible times; several when the half of the day is unknown. */
  readonly times: readonly Temporal.PlainTime[];
  /** Time zone after the time; undefined: that of the context; null: an unknown one. */
  readonly zone: string | null | undefined;
  readonly next: number;
}

const PARTS: ReadonlyMap<string, PartOfDay> = new Map([
  ["morning", "morning"],
  ["afternoon", "afternoon"],
  ["evening", "evening"],
  ["night", "evening"],
]);
const TIME = /^(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))?(am|pm|h)?$/;
/** Words that may follow a bare hour: any other word may be a counted thing ("at 5 stores"). */
const AFTER_HOUR = new Set(
  "and then or for with to in on by via from until till about titled called named tomorrow today next this utc gmt z o please sharp".split(
    " ",
  ),
);
/** Abbreviations that are ambiguous or unknown as time zones. */
const OTHER_ZONE = /^(?:[A-Z]{1,3}[SD]?T|CES?T|EES?T|WES?T)$/;

/** "morning" and its synonyms. */
export const partOfDay = (word: MomentWord | undefined): PartOfDay | null =>
  PARTS.get(word?.lower ?? "") ?? null;

/** Reads "9am", "14:30", "noon", and a bare hour after "at"; null when there is no time. */
export function clockTimeAt(
  words: readonly MomentWord[],
  at: number,
  part: PartOfDay | null,
): ClockTime | null {
  const isBehindAt = words[at]?.lower === "at" || words[at]?.lower === "@";
  const start = isBehindAt ? at + 1 : at;
  if (words[start]?.lower === "noon")
    return { times: [Temporal.PlainTime.from("12:00")], ...zoneAt(words, start + 1) };
  const said = TIME.exec(words[start]?.lower ?? "");
  if (!said) return null;
  const apart = ["am", "pm"].find((half) => half === words[start + 1]?.lower);
  const half = said[4] ?? apart;
  const next = start + (said[4] === undefined && apart !== undefined ? 2 : 1);
  const isBare = said[2] === undefined && half === undefined;
  if (isBare && !(isBehindAt && mayFollowHour(words[next]))) return null;
  const afterTime = words[next]?.lower === "o" && words[next + 2]?.lower === "clock" ? next + 3 : next;
  const hours = hoursOf(Number(said[1]), half === "h" ? undefined : half, part);
  const [minute, second] = [Number(said[2] ?? 0), Number(said[3] ?? 0)];
  if (hours.length === 0 || minute > 59 || second > 59) return null;
  return {
    times: hours.map((hour) => new Temporal.PlainTime(hour, minute, second)),
    ...zoneAt(words, afterTime),
  };
}

const mayFollowHour = (word: MomentWord | undefined): boolean =>
  word === undefined ||
  AFTER_HOUR.has(word.lower) ||
  partOfDay(word) !== null ||
  OTHER_ZONE.test(word.text) ||
  !/^[\p{L}\p{N}]/u.test(word.text);

/** The possible hours, from 0; none for an invalid time. */
function hoursOf(hour: number, half: string | undefined, part: PartOfDay | null): number[] {
  if (half !== undefined) return hour >= 1 && hour <= 12 ? [(hour % 12) + (half === "pm" ? 12 : 0)] : [];
  if (hour > 23) return [];
  if (hour === 0 || hour >= 12) return [hour];
  if (part !== null) return [part === "morning" ? hour : hour + 12];
  return hour <= 6 ? [hour + 12, hour] : [hour];
}

function zoneAt(words: readonly MomentWord[], at: number): Pick<ClockTime, "zone" | "next"> {
  const word = words[at];
  if (!word) return { zone: undefined, next: at };
  if (["utc", "gmt", "z"].includes(word.lower)) return { zone: "UTC", next: at + 1 };
  if (/^[+-]\d{2}:\d{2}$/.test(word.text)) return { zone: word.text, next: at + 1 };
  return OTHER_ZONE.test(word.text) ? { zone: null, next: at + 1 } : { zone: undefined, next: at };
}
