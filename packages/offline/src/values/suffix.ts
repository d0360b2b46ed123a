import { type Parameter, PREPOSITIONS, participleRoot } from "@planwright/models/words";
import { COUNTS, DETERMINERS, ORDINALS, PLAIN_ADJECTIVES, POINTERS, QUANTIFIERS } from "../text/lexicon.ts";
import { isSeparator } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { namedAt } from "./keywords.ts";
import { beginsPhrase } from "./phrases.ts";
import type { Reading } from "./reading.ts";

/** A word before the name of its parameter: "the auth service". */
export interface Suffix {
  parameter: Parameter;
  value: Token;
  next: number;
}

/**
 * A value before the name of its parameter, at a position that begins with a determiner; a plain adjective is
 * no value.
 */
export function suffixAt(reading: Reading, at: number): Suffix | null {
  if (!DETERMINERS.has(reading.tokens[at]?.lower ?? "")) return null;
  const value = reading.tokens[at + 1];
  const named = namedAt(reading, at + 2);
  if (!value || !named || !isName(reading, at + 1) || reading.isSet(named.parameter)) return null;
  const { parameter, length } = named;
  const next = at + 2 + length;
  const behind = reading.tokens[next];
  const isEnd =
    behind === undefined ||
    isSeparator(behind) ||
    PREPOSITIONS.has(behind.lower) ||
    beginsPhrase(reading.tokens, next);
  return isEnd && parameter.type === "string" ? { parameter, value, next } : null;
}

/** True when such words are at a position. */
export const isSuffixed = (reading: Reading, at: number) => suffixAt(reading, at) !== null;

function isName(reading: Reading, at: number): boolean {
  const token = reading.tokens[at];
  if (token?.kind === "quoted") return true;
  if (token?.kind !== "word" || PLAIN_ADJECTIVES.has(token.lower) || participleRoot(token.lower) !== null)
    return false;
  const isFunctionWord =
    QUANTIFIERS.has(token.lower) ||
    POINTERS.has(token.lower) ||
    ORDINALS.has(token.lower) ||
    COUNTS.has(token.lower) ||
    PREPOSITIONS.has(token.lower);
  return !isFunctionWord && namedAt(reading, at) === null;
}
