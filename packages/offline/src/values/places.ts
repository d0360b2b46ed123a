import { PREPOSITIONS, stem } from "@planwright/models/words";
import { ARTICLES, CONNECTORS } from "../text/lexicon.ts";
import { isSeparator } from "../text/separators.ts";
import { beginsPhrase } from "./phrases.ts";
import type { Reading } from "./reading.ts";

/**
 * "in my calendar", "to the company": the place where the tool always acts, by its description. These words
 * are no argument.
 */
export function isOwnPlace({ tokens, words }: Reading, at: number): boolean {
  const [article, noun, behind] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (!ARTICLES.has(article?.lower ?? "") || noun?.kind !== "word") return false;
  const isKnown = words.places.has(stem(noun.lower)) || words.describedNouns.includes(stem(noun.lower));
  const isEnd =
    behind === undefined ||
    isSeparator(behind) ||
    PREPOSITIONS.has(behind.lower) ||
    CONNECTORS.has(behind.lower) ||
    beginsPhrase(tokens, at + 1);
  return isKnown && isEnd;
}
