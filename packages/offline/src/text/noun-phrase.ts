import { linkedNoun, type Parameter, PREPOSITIONS, stem, type ToolWords } from "@planwright/models/words";
import { CONNECTORS, COUNTS, DETERMINERS, ORDINALS, PRONOUNS, QUANTIFIERS } from "./lexicon.ts";
import type { Token } from "./tokens.ts";
import { measureAt, valueFor } from "./value-for.ts";

/**
 * The words after a verb that name a tool's thing: "the new calendar event titled ..." -> calendar, event.
 */
export interface NounPhrase {
  said: readonly string[];
  /** How many tokens, the noun included. */
  consumed: number;
  /** Tokens before the noun that are arguments: "list open issues", "the 3 day forecast". */
  adjectives: readonly Token[];
  /**
   * A word before the noun that says which thing is meant, and that no argument can take: "the front door".
   */
  modifier: Token | null;
}

/** The noun phrase at the start of some tokens; null when it does not name the tool's thing. */
export function nounPhrase(words: ToolWords, rest: readonly Token[]): NounPhrase | null {
  let at = 0;
  const adjectives: Token[] = [];
  for (let found = adjectiveAt(words, rest, at); found > 0; found = adjectiveAt(words, rest, at)) {
    if (QUANTIFIERS.has(rest[at]?.lower ?? "") && !words.isListing) return null;
    if (!isLeading(rest[at]) || found > 1 || isReceiver(rest, at))
      adjectives.push(...rest.slice(at, at + found));
    at += found;
  }
  const modifier = at > 0 ? modifierAt(words, rest, at) : null;
  if (modifier) at += 1;
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
  return said.length > 0 && isNamed ? { said, consumed: at, adjectives, modifier } : null;
}

/** A plain word between an article and the thing, when the tool requires to know which thing. */
function modifierAt(words: ToolWords, rest: readonly Token[], at: number): Token | null {
  const [token, noun] = [rest[at], rest[at + 1]];
  if (token?.kind !== "word" || noun?.kind !== "word" || noun.lower !== words.thing) return null;
  const isPlain =
    !FUNCTION_WORDS.some((known) => known.has(token.lower)) && !isNameWord(words, stem(token.lower));
  return isPlain && ownParameter(words) ? token : null;
}

const FUNCTION_WORDS = [PREPOSITIONS, CONNECTORS, QUANTIFIERS, ORDINALS, COUNTS, PRONOUNS];

/** The required parameter that says which thing is meant: its id or its name. */
export const ownParameter = ({ thing, parameters }: ToolWords) =>
  parameters.find(
    (each) => each.required && thing !== null && (linkedNoun(each) === thing || each.words.at(-1) === thing),
  ) ?? null;

/** True for a word of the tool's name or of its server's. */
export const isNameWord = (words: ToolWords, word: string) =>
  words.nouns.includes(word) ||
  words.qualifiers.includes(word) ||
  words.spoken.includes(word) ||
  words.tool.server?.toLowerCase() === word;

/** "send her an email": the receiver, before the noun. */
const isReceiver = (rest: readonly Token[], at: number) =>
  ["her", "him", "them"].includes(rest[at]?.lower ?? "") &&
  ["a", "an", "the", "one"].includes(rest[at + 1]?.lower ?? "");

/**
 * How many tokens at a position belong before a noun: a determiner, a choice ("open"), a measure ("3 day"); 0
 * for none.
 */
function adjectiveAt(words: ToolWords, rest: readonly Token[], at: number): number {
  const token = rest[at];
  if (!token || token.kind === "quoted") return 0;
  if (measureAt(words.parameters, rest, at)) return 2;
  if (isLeading(token) || isReceiver(rest, at)) return 1;
  if (isNameWord(words, stem(token.lower))) return 0;
  const parameter = words.parameters.find((each) =>
    each.type === "boolean"
      ? isFlag(each, token.lower)
      : each.choices && valueFor(each, token.text) !== undefined,
  );
  if (!parameter) return 0;
  // "high priority issues": the parameter's name belongs to its value.
  const next = rest[at + 1];
  const isNamed = next?.kind === "word" && parameter.choices && parameter.words.includes(stem(next.lower));
  return isNamed && !isNameWord(words, stem(next.lower)) ? 2 : 1;
}

/** "public" for `isPublic`. */
export const isFlag = ({ words }: Parameter, said: string) =>
  words.filter((word) => !["is", "has", "should", "be"].includes(word)).join(" ") === said;

/** Determiners, counts and "me" before the noun. */
export const isLeading = (token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "quoted" &&
  (DETERMINERS.has(token.lower) ||
    QUANTIFIERS.has(token.lower) ||
    ["me", "us"].includes(token.lower) ||
    COUNTS.has(token.lower) ||
    /^\d{1,2}$/.test(token.text));
