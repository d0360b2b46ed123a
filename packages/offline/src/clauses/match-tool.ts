import {
  isMakingVerb,
  isPlainlyMaking,
  isPlural,
  stem,
  type ToolWords,
  takesFor,
  verbFit,
} from "@planwright/models/words";
import { isNameWord, nounPhrase } from "../text/noun-phrase.ts";
import type { Token } from "../text/tokens.ts";
import { isIdentifier, isPath, isTyped } from "../text/value-for.ts";

/** A tool that fits the head of a clause. */
export interface ToolMatch {
  words: ToolWords;
  /** Above 0, at most 1. */
  fit: number;
  /** Tokens after the verb that name the tool's thing; the arguments follow. */
  consumed: number;
  /** Tokens before the noun that are arguments: "list open issues", "the 3 day forecast". */
  adjectives: readonly Token[];
  /**
   * A word before the noun that says which thing is meant, and that no argument can take: "the front door".
   */
  modifier: Token | null;
  /**
   * True when only the verb fits the tool ("delete a.txt"). Then the arguments must show that this tool is
   * meant.
   */
  isByVerb: boolean;
}

interface NounFit {
  fit: number;
  consumed: number;
  adjectives: readonly Token[];
  modifier: Token | null;
}

const NO_NOUN = { consumed: 0, adjectives: [], modifier: null };

/** Fits whose difference is smaller than this are equal. */
const TIE = 0.02;

/**
 * Tools that fit a verb and the words after it, the best first. The verb must fit a verb of the tool. The
 * noun must fit a noun of the tool's name or, with less weight, of its description.
 * @param verb - in lower case
 * @param rest - tokens after the verb
 */
export function matchTools(
  catalogue: readonly ToolWords[],
  verb: string,
  rest: readonly Token[],
): ToolMatch[] {
  const matches: ToolMatch[] = [];
  const fits = new Map<string, number>();
  const fitOf = (offered: string): number => {
    const known = fits.get(offered) ?? verbFit(verb, offered);
    fits.set(offered, known);
    return known;
  };
  for (const words of catalogue) {
    const spelled = spelledOut(words, verb, rest);
    if (spelled > 0) {
      matches.push({ words, fit: 1, consumed: spelled, adjectives: [], modifier: null, isByVerb: false });
      continue;
    }
    const verbScore = Math.max(
      ...words.verbs.map((offered, index) => fitOf(offered) * (index === 0 ? 1 : 0.95)),
    );
    if (verbScore <= 0) continue;
    const skipped = takesFor(verb) && rest[0]?.lower === "for" ? 1 : 0;
    const behind = rest.slice(skipped);
    const noun = words.nouns.length === 0 ? bareFit(words, verb, behind) : nounFit(words, verb, behind);
    if (!noun || isThere(words, verb, behind[noun.consumed])) continue;
    const { fit, consumed, adjectives, modifier } = noun;
    matches.push({
      words,
      fit: verbScore * fit,
      consumed: consumed === 0 ? 0 : consumed + skipped,
      adjectives,
      modifier,
      isByVerb: false,
    });
  }
  return matches.toSorted((left, right) => right.fit - left.fit);
}

/**
 * "open issue 5": the id after the noun shows that the sentence asks for nothing new, unless the tool's own
 * verb is "open".
 */
const isThere = (words: ToolWords, verb: string, behind: Token | undefined) =>
  words.isMaking &&
  !isPlainlyMaking(verb) &&
  !words.verbs.includes(verb) &&
  (isIdLike(behind) || (verb === "open" && behind !== undefined && isPath(behind.text)));

const isIdLike = (token: Token | undefined) =>
  token !== undefined && (token.kind === "number" || (token.kind === "word" && isIdentifier(token.text)));

/** Tools whose verb fits, for a clause that does not name the thing. */
export function matchByVerb(catalogue: readonly ToolWords[], verb: string): ToolMatch[] {
  return catalogue
    .filter((words) => words.verbs.includes(verb))
    .map((words) => ({ words, ...NO_NOUN, fit: 0.5, isByVerb: true }));
}

/** The best matches, which fit equally well: only their arguments can decide. */
export function bestMatches(matches: readonly ToolMatch[]): ToolMatch[] {
  const best = matches[0];
  return best ? matches.filter((match) => best.fit - match.fit < TIE) : [];
}

/**
 * How many tokens after the verb spell out the rest of a name of three words or more; 0 when they do not.
 */
function spelledOut({ spoken }: ToolWords, verb: string, rest: readonly Token[]): number {
  if (spoken.length < 3 || spoken[0] !== verb) return 0;
  const behind = spoken.slice(1);
  const isSpelled = behind.every((word, index) => {
    const token = rest[index];
    return token?.kind === "word" && stem(token.lower) === stem(word);
  });
  return isSpelled ? behind.length : 0;
}

/** A tool whose name is a verb alone (`echo`), or a verb and a place (`addToCart`). */
function bareFit(words: ToolWords, verb: string, rest: readonly Token[]): NounFit | null {
  if (words.qualifiers.length > 0) {
    const isNamed = rest.some((token) => words.qualifiers.includes(stem(token.lower)));
    return isNamed ? { ...NO_NOUN, fit: 0.9 } : null;
  }
  return words.verbs[0] === verb ? { ...NO_NOUN, fit: 0.9 } : null;
}

function nounFit(words: ToolWords, verb: string, rest: readonly Token[]): NounFit | null {
  const phrase = nounPhrase(words, rest);
  if (!phrase) return null;
  const isPlaced = rest.some((token) => words.qualifiers.includes(stem(token.lower)));
  // "open issue 5" does not ask for `add_issue_to_sprint`.
  if (words.qualifiers.length > 0 && !isPlaced && !words.verbs.includes(verb)) return null;
  const { said, consumed, adjectives, modifier } = phrase;
  const named = words.nouns.filter((noun) => said.some((word) => stem(word) === noun)).length;
  const last = stem(said.at(-1) ?? "");
  const coverage = named === 0 ? 0.8 : 0.8 + 0.2 * (named / words.nouns.length);
  const foreign = said.filter((word) => !isNameWord(words, stem(word))).length;
  const many = isPlural(said.at(-1) ?? "");
  // "get the posts" asks for a list, "get posts 5 and 6" does not.
  const isListed = many && !isTyped(rest[consumed]);
  const number = isMakingVerb(verb) || words.isListing === many ? 1 : isListed ? 0.75 : 0.9;
  const qualified = words.qualifiers.length === 0 || isPlaced ? 1 : 0.9;
  return {
    fit: lastFit(words, verb, last) * coverage * number * qualified * 0.9 ** foreign,
    consumed,
    adjectives,
    modifier,
  };
}

/** How well the last word of the noun phrase names what the tool is about. */
function lastFit(words: ToolWords, verb: string, last: string): number {
  if (last === words.thing) return 1;
  // "list the files": a thing that the description says the tool acts on counts nearly as much as the tool's
  // name.
  const asObject = words.objects.has(last) ? (words.verbs.includes(verb) ? 0.9 : 0.75) : 0.5;
  return words.nouns.includes(last) ? Math.max(0.7, asObject) : asObject;
}
