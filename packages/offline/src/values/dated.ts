import { isDated, type Parameter, PREPOSITIONS } from "@planwright/models/words";
import { type Moment, momentAt } from "../text/moments.ts";
import { valueFor } from "../text/value-for.ts";
import type { Argument } from "./argument.ts";
import { openParameters, type Reading } from "./reading.ts";

const RANGE_ENDS = new Set(["to", "until", "till", "through", "and", "-"]);
const FROM = new Set("from start begin after since in".split(" "));
const TO = new Set("to end until before due out".split(" "));

/**
 * Reads "on 2026-12-01", "tomorrow at 9am", "from 2026-07-01 to 2026-07-05" for parameters that hold days or
 * moments.
 */
export function dated(reading: Reading, at: number): Argument | null {
  const word = reading.tokens[at]?.lower ?? "";
  const isBehind = PREPOSITIONS.has(word) && reading.tokens[at]?.kind === "word";
  // "in two hours" begins with its preposition.
  const isWhole = reading.moments.some((each) => each.start === reading.tokens[at]?.start);
  const start = isBehind && !isWhole ? at + 1 : at;
  const moment = momentAt(reading, start);
  const open = openParameters(reading).filter(isDated);
  if (!moment || open.length === 0) return null;
  const range = wholeRange(moment, open) ?? rangeAt(reading, moment, open);
  if (range) return range;
  const parameter = parameterFor(open, start > at ? word : null);
  return parameter && momentFor(reading, parameter, start);
}

/** "last week", for two parameters: its first day and its last day. */
function wholeRange({ range, next }: Moment, open: readonly Parameter[]): Argument | null {
  const [from, to] = bounds(open);
  if (!range || !from || !to) return null;
  const gives = [
    { parameter: from, value: range.from },
    { parameter: to, value: range.to },
  ];
  const isFitting = gives.every(({ parameter, value }) => valueFor(parameter, value) !== undefined);
  return isFitting ? { next, gives, isTyped: true } : null;
}

/** Two days, the second after a word such as "to" or "until": the beginning and the end. */
function rangeAt(reading: Reading, first: Moment, open: readonly Parameter[]): Argument | null {
  if (!RANGE_ENDS.has(reading.tokens[first.next]?.lower ?? "")) return null;
  const second = momentAt(reading, first.next + 1);
  const [from, to] = bounds(open);
  if (!second || !from || !to) return null;
  const [begin, end] = [valueOf(from, first), valueOf(to, second)];
  if (begin === null || end === null) return null;
  return {
    next: second.next,
    gives: [
      { parameter: from, value: begin },
      { parameter: to, value: end },
    ],
    isTyped: true,
  };
}

/**
 * The parameters for the beginning and the end: by their names, else the two required ones, else the only
 * two.
 */
function bounds(open: readonly Parameter[]): readonly Parameter[] {
  const from = open.filter(({ words }) => words.some((word) => FROM.has(word)));
  const to = open.filter(({ words }) => words.some((word) => TO.has(word)));
  if (from.length === 1 && to.length === 1 && from[0] !== to[0]) return [...from, ...to];
  const required = open.filter((each) => each.required);
  return required.length === 2 ? required : open.length === 2 ? open : [];
}

function parameterFor(open: readonly Parameter[], preposition: string | null): Parameter | null {
  const names = preposition === null ? [] : (PREPOSITIONS.get(preposition) ?? []);
  const required = open.filter((each) => each.required);
  const named = open.filter(({ words }) => words.some((word) => names.includes(word)));
  for (const candidates of [required, named, open]) if (candidates.length === 1) return candidates[0] ?? null;
  return null;
}

/**
 * The value for a parameter that takes a day or a moment, from the words at a position; words that are no
 * such value are unusable.
 */
export function momentFor(reading: Reading, parameter: Parameter, at: number): Argument | null {
  const moment = momentAt(reading, at);
  if (!moment) return null;
  const value = valueOf(parameter, moment);
  const end = value !== null && parameter.shape === "date" ? moment.dateEnd : moment.next;
  if (value !== null) return { next: end, gives: [{ parameter, value }], isTyped: true };
  const said = reading.sentence.slice(reading.tokens[at]?.start, reading.tokens[moment.next - 1]?.end);
  return { next: moment.next, unusable: { parameter, said } };
}

/**
 * "tomorrow" needs the current time and the time zone, "2026-12-01" alone is no moment, and no time zone is
 * invented.
 */
function valueOf(parameter: Parameter, moment: Moment): string | null {
  if (parameter.shape === "date") return moment.date;
  const isWhole = moment.date !== null && moment.time !== null;
  const text = moment.instant ?? (isWhole ? `${moment.date}T${moment.time}` : null);
  return text !== null && valueFor(parameter, text) !== undefined ? text : null;
}
