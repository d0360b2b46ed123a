import type { Argument } from "./argument.ts";
import { namedAt } from "./keywords.ts";
import {
  COUNTS,
  DETERMINERS,
  ORDINALS,
  PLAIN_ADJECTIVES,
  POINTERS,
  PREPOSITIONS,
  QUANTIFIERS,
} from "./lexicon.ts";
import { give } from "./link-values.ts";
import { beginsPhrase } from "./phrases.ts";
import type { Reading } from "./reading.ts";
import { isSeparator } from "./separators.ts";
import { participleRoot } from "./words.ts";

/** "the auth service": one word in front of what a parameter is called, behind a preposition. Plain adjectives name nothing. */
export function suffixedAt(reading: Reading, at: number): Argument | null {
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
  if (!isEnd || parameter.type !== "string") return null;
  return { ...give(reading, parameter, { text: value.text, kind: value.kind, next }), next };
}

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
