import { DETERMINERS, isMakingVerb, takesFor, verbFit } from "./lexicon.ts";
import { measureAt, valueFor } from "./parameter.ts";
import type { Token } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";
import { isPlural, stem } from "./words.ts";

/** A tool that fits the head of a clause. */
export interface ToolMatch {
  words: ToolWords;
  /** Above 0, at most 1. */
  fit: number;
  /** Tokens after the verb that name the tool's thing; the arguments follow. */
  consumed: number;
  /** Tokens in front of the noun that are arguments: "list open issues", "the 3 day forecast". */
  adjectives: readonly Token[];
}

interface NounFit {
  fit: number;
  consumed: number;
  adjectives: readonly Token[];
}

/** Fits closer together than this are a tie. */
const TIE = 0.02;

/**
 * Tools that fit a verb and the words behind it, the best first.
 * The verb must fit a verb of the tool, and the noun a noun of its name, or, at half the weight, of its description.
 * @param verb - in lower case
 * @param rest - tokens behind the verb
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
    const verbScore = Math.max(
      ...words.verbs.map((offered, index) => fitOf(offered) * (index === 0 ? 1 : 0.95)),
    );
    if (verbScore <= 0) continue;
    const skipped = takesFor(verb) && rest[0]?.lower === "for" ? 1 : 0;
    const behind = rest.slice(skipped);
    const noun = words.nouns.length === 0 ? bareFit(words, verb, behind) : nounFit(words, verb, behind);
    if (!noun) continue;
    const { fit, consumed, adjectives } = noun;
    matches.push({
      words,
      fit: verbScore * fit,
      consumed: consumed === 0 ? 0 : consumed + skipped,
      adjectives,
    });
  }
  return matches.toSorted((left, right) => right.fit - left.fit);
}

/** The best matches that nothing but their arguments can tell apart. */
export function bestMatches(matches: readonly ToolMatch[]): ToolMatch[] {
  const best = matches[0];
  return best ? matches.filter((match) => best.fit - match.fit < TIE) : [];
}

/** A tool whose name is a verb alone (`echo`), or a verb and a place (`addToCart`). */
function bareFit(words: ToolWords, verb: string, rest: readonly Token[]): NounFit | null {
  if (words.qualifiers.length > 0) {
    const isNamed = rest.some((token) => words.qualifiers.includes(stem(token.lower)));
    return isNamed ? { fit: 0.9, consumed: 0, adjectives: [] } : null;
  }
  return words.verbs[0] === verb ? { fit: 0.9, consumed: 0, adjectives: [] } : null;
}

function nounFit(words: ToolWords, verb: string, rest: readonly Token[]): NounFit | null {
  const phrase = nounPhrase(words, rest);
  if (!phrase) return null;
  const { said, consumed, adjectives } = phrase;
  const named = words.nouns.filter((noun) => said.some((word) => stem(word) === noun)).length;
  const last = stem(said.at(-1) ?? "");
  const lastFit = last === words.thing ? 1 : words.nouns.includes(last) ? 0.7 : 0.5;
  const coverage = named === 0 ? 0.8 : 0.8 + 0.2 * (named / words.nouns.length);
  const foreign = said.filter((word) => !isNameWord(words, stem(word))).length;
  const many = isPlural(said.at(-1) ?? "");
  const number = isMakingVerb(verb) || words.isListing === many ? 1 : 0.9;
  const qualified =
    words.qualifiers.length === 0 || rest.some((token) => words.qualifiers.includes(stem(token.lower)))
      ? 1
      : 0.9;
  return { fit: lastFit * coverage * number * qualified * 0.9 ** foreign, consumed, adjectives };
}

const isNameWord = (words: ToolWords, word: string) =>
  words.nouns.includes(word) || words.qualifiers.includes(word) || words.tool.server?.toLowerCase() === word;

/** The words behind the verb that belong to the tool's thing: "the new calendar event titled ..." -> calendar, event. */
function nounPhrase(
  words: ToolWords,
  rest: readonly Token[],
): { said: string[]; consumed: number; adjectives: Token[] } | null {
  let at = 0;
  const adjectives: Token[] = [];
  for (let found = adjectiveAt(words, rest, at); found > 0; found = adjectiveAt(words, rest, at)) {
    if (!isLeading(rest[at]) || found > 1) adjectives.push(...rest.slice(at, at + found));
    at += found;
  }
  const said: string[] = [];
  while (at < rest.length) {
    const token = rest[at];
    if (token?.kind !== "word") break;
    const word = stem(token.lower);
    const isProperName =
      said.length > 0 && /^\p{Lu}/u.test(token.text) && /^\p{Ll}/u.test(rest[at - 1]?.text ?? "");
    if (isProperName || !(isNameWord(words, word) || words.describedNouns.includes(word))) break;
    said.push(token.lower);
    at += 1;
  }
  const last = stem(said.at(-1) ?? "");
  const isNamed = words.nouns.includes(last) || words.describedNouns.includes(last);
  return said.length > 0 && isNamed ? { said, consumed: at, adjectives } : null;
}

/** How many tokens at a position stand in front of a noun: a determiner, a choice ("open"), a measure ("3 day"); 0 for none. */
function adjectiveAt(words: ToolWords, rest: readonly Token[], at: number): number {
  const token = rest[at];
  if (!token || token.kind === "quoted") return 0;
  if (measureAt(words.parameters, rest, at)) return 2;
  if (isLeading(token)) return 1;
  if (isNameWord(words, stem(token.lower))) return 0;
  const isChoice = words.parameters.some((each) =>
    each.type === "boolean"
      ? each.name.toLowerCase() === token.lower
      : each.choices && valueFor(each, token.text) !== undefined,
  );
  return isChoice ? 1 : 0;
}

/** Determiners, counts and "me" in front of the noun. */
export const isLeading = (token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "quoted" &&
  (DETERMINERS.has(token.lower) || token.lower === "me" || token.lower === "us" || isCount(token));

const isCount = (token: Token) =>
  ["one", "two", "three", "four", "five", "six", "both"].includes(token.lower) ||
  /^\d{1,2}$/.test(token.text);
