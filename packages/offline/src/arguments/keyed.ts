import {
  isDated,
  isLongText,
  isNumeric,
  isPlural,
  type Parameter,
  PREPOSITIONS,
  stem,
} from "@planwright/models/words";
import { antecedentAt } from "../links/antecedents.ts";
import { CONNECTORS, DETERMINERS, QUANTIFIERS } from "../text/lexicon.ts";
import { isSeparator, skipDeterminers } from "../text/separators.ts";
import { isTyped, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { choice } from "../values/choices.ts";
import { momentFor } from "../values/dated.ts";
import { type Keyword, keywordAt } from "../values/keywords.ts";
import { give } from "../values/link-values.ts";
import { pointingTo } from "../values/pointing.ts";
import { modeFor, type ReadValue, readValue } from "../values/read-value.ts";
import type { Mode, Reading } from "../values/reading.ts";
import { giveAll } from "./lists.ts";
import { suffixed } from "./suffixed.ts";

/**
 * A value after the name of its parameter: "with price 9.99", "title: Hello", "assigned to lea",
 * "published".
 */
export function keyword(reading: Reading, at: number): Argument | null {
  // "its content" and "that blog" point to what was made before, and name no argument.
  if (
    ["its", "their", "his", "her", "that", "this", "these", "those"].includes(
      reading.tokens[at]?.lower ?? "",
    ) &&
    antecedentAt(reading, at)
  )
    return null;
  const connects = CONNECTORS.has(reading.tokens[at]?.lower ?? "");
  const named = keyed(reading, connects ? at + 1 : at, { isBehindPreposition: false });
  if (named || !connects) return named;
  return choice(reading, skipDeterminers(reading.tokens, at + 1)) ?? suffixed(reading, at + 1);
}

/**
 * The same without a connector. A preposition counts as the name of a parameter only before a colon or "="
 * ("to: ...").
 */
export function keyed(
  reading: Reading,
  at: number,
  { isBehindPreposition }: { isBehindPreposition: boolean },
): Argument | null {
  const position = skipDeterminers(reading.tokens, at);
  const found = keywordAt(reading, position);
  if (!found) return null;
  const isPreposition = PREPOSITIONS.has(reading.tokens[position]?.lower ?? "");
  if (isPreposition && !found.isMarked) return null;
  const { parameter, next } = found;
  if (isBehindPreposition && reading.isSet(parameter)) return null;
  const pointed = pointingTo(reading, parameter, next);
  if (pointed) return pointed;
  if (parameter.type === "boolean") return flag(reading, parameter, next);
  if (isDated(parameter)) return momentFor(reading, parameter, next);
  if (QUANTIFIERS.has(reading.tokens[next]?.lower ?? "") && !isLongText(parameter)) return null;
  return valueOf(reading, found, isPlural(reading.tokens[position]?.lower ?? ""));
}

/** "published", "published true": a flag without a value is true. */
function flag(reading: Reading, parameter: Parameter, next: number): Argument {
  const token = reading.tokens[next];
  const value = token ? valueFor(parameter, token.text, token.kind) : undefined;
  return {
    next: value === undefined ? next : next + 1,
    gives: [{ parameter, value: value ?? true }],
  };
}

function valueOf(reading: Reading, { parameter, next }: Keyword, isMany: boolean): Argument | null {
  const value = chosen(parameter, reading, next) ?? readAs(reading, parameter, next);
  if (!value) return null;
  if (parameter.type === "array" || isMany) return giveAll(reading, parameter, value);
  return {
    ...give(reading, parameter, value),
    next: skipUnit(reading, parameter, value.next),
    isTyped: isTyped(reading.tokens[next]),
  };
}

/** A choice of several words: "in progress". */
function chosen(parameter: Parameter, reading: Reading, at: number): ReadValue | null {
  if (parameter.choices === null) return null;
  for (const length of [3, 2]) {
    const tokens = reading.tokens.slice(at, at + length);
    const text = tokens.map((token) => token.text).join(" ");
    if (tokens.length === length && valueFor(parameter, text) !== undefined)
      return { text, kind: "word", next: at + length };
  }
  return null;
}

/** Reads with the parameter counted as set, so that words of its name do not end the value. */
export function readAs(
  reading: Reading,
  parameter: Parameter,
  at: number,
  mode: Mode = modeFor(parameter),
): ReadValue | null {
  const without: Reading = { ...reading, isSet: (each) => each === parameter || reading.isSet(each) };
  return readValue(without, at, mode);
}

/** "size 50 gb": skips the unit after a number when the parameter's name or description contains it. */
function skipUnit(reading: Reading, parameter: Parameter, at: number): number {
  const token = reading.tokens[at];
  if (!isNumeric(parameter) || token?.kind !== "word" || isSeparator(token)) return at;
  if (CONNECTORS.has(token.lower) || DETERMINERS.has(token.lower)) return at;
  const unit = stem(token.lower);
  const isUnit = [...parameter.words, ...parameter.describedBy].some((word) => stem(word) === unit);
  return isUnit && !PREPOSITIONS.has(token.lower) ? at + 1 : at;
}
