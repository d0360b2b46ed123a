import { type Parameter, PREPOSITIONS } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { CONNECTORS, NAME_ENDS, QUANTIFIERS, SPEAKERS } from "../text/lexicon.ts";
import { momentAt } from "../text/moments.ts";
import { isSeparator, skipSeparators } from "../text/separators.ts";
import { isTyped, measureAt, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { choiceAt } from "../values/choices.ts";
import { keywordAt } from "../values/keywords.ts";
import { give, isLinkable } from "../values/link-values.ts";
import { beginsPhrase } from "../values/phrases.ts";
import { type ReadValue, readValue } from "../values/read-value.ts";
import { misread, openParameters, type Reading } from "../values/reading.ts";

/** True when the words at a position can be a value, and not the beginning of another argument. */
export function startsValue(reading: Reading, at: number): boolean {
  const token = reading.tokens[at];
  if (!token || isSeparator(token)) return false;
  if (token.kind !== "word") return true;
  return (
    !PREPOSITIONS.has(token.lower) &&
    !QUANTIFIERS.has(token.lower) &&
    !NAME_ENDS.has(token.lower) &&
    !SPEAKERS.has(token.lower) &&
    !CONNECTORS.has(token.lower) &&
    !beginsPhrase(reading.tokens, at) &&
    keywordAt(reading, at) === null
  );
}

/** The value after a separator, unless another argument begins there. */
export function nextListed(reading: Reading, at: number): ReadValue | null {
  const behind = skipSeparators(reading.tokens, at);
  if (behind === at || !startsValue(reading, behind)) return null;
  const isOther =
    choiceAt(reading, behind)?.isNamed === true ||
    measureAt(openParameters(reading), reading.tokens, behind) !== null ||
    momentAt(reading, behind) !== null;
  return isOther ? null : readValue(reading, behind, "name");
}

/** A first value and the values that commas or "and" join to it. */
export function listed(reading: Reading, first: ReadValue): { values: ReadValue[]; next: number } {
  const values = [first];
  let next = first.next;
  for (let value = nextListed(reading, next); value; value = nextListed(reading, next)) {
    values.push(value);
    next = value.next;
  }
  return { values, next };
}

/**
 * A value with all values that are joined to it: items of a list for a parameter that takes a list, else one
 * call for each value. Values that the parameter cannot take are left for the next rules.
 * @throws {NotUnderstoodError}
 */
export function giveAll(reading: Reading, parameter: Parameter, first: ReadValue): Argument {
  const head = give(reading, parameter, first);
  const values: JsonValue[] = (head.gives ?? []).map(({ value }) => value);
  let next = first.next;
  // "authors Alice in Rome and Bob in Oslo": where things are named one by one, the next word may be a name.
  const isAlone = reading.isPlural && reading.naming() !== null && parameter.type !== "array";
  for (
    let more = nextListed(reading, next);
    more && values.length > 0 && !isAlone;
    more = nextListed(reading, next)
  ) {
    const given = tryGive(reading, parameter, more);
    if (given === undefined) break;
    values.push(given);
    next = more.next;
  }
  if (parameter.type === "array" && values.length > 0)
    return { ...head, next, gives: [{ parameter, value: values }] };
  if (values.length < 2) return { ...head, next };
  if (values.length === 2 && isOneName(reading, first.next)) {
    throw misread(
      reading,
      'it is open whether a comma joins two values or stands inside one; quotes or "and" say it',
    );
  }
  return { next, spread: { parameter, values }, isTyped: head.isTyped ?? false };
}

/** "Paris, France": a comma alone between two plain words, where a list would say "and". */
function isOneName(reading: Reading, at: number): boolean {
  const [before, mark, behind] = [reading.tokens[at - 1], reading.tokens[at], reading.tokens[at + 1]];
  return (
    mark?.text === "," &&
    behind?.kind === "word" &&
    !isSeparator(behind) &&
    !isTyped(before) &&
    !isTyped(behind)
  );
}

function tryGive(reading: Reading, parameter: Parameter, value: ReadValue): JsonValue | undefined {
  const isFitting =
    valueFor(parameter, value.text, value.kind) !== undefined || isLinkable(reading, parameter);
  return isFitting ? give(reading, parameter, value).gives?.[0]?.value : undefined;
}
