import {
  isNumeric,
  type Parameter,
  PREPOSITIONS,
  participleRoot,
  splitName,
  stem,
} from "@planwright/models/words";
import { CONNECTORS, ORDINALS } from "../text/lexicon.ts";
import { isSeparator } from "../text/separators.ts";
import type { Reading } from "./reading.ts";

/** A parameter named in the clause, with where its value starts. */
export interface Keyword {
  parameter: Parameter;
  next: number;
  /** Written as `key:` or `key=`. */
  isMarked: boolean;
}

const FILLERS = new Set(["is", "are", "to", "of", "as", "at", "address", "on", "in", "for"]);

/** The parameter that the words at a position name, when a value follows them. */
export function keywordAt(reading: Reading, at: number): Keyword | null {
  const named = namedAt(reading, at);
  if (named === null) return null;
  const { parameter, length } = named;
  let next = at + length;
  const mark = reading.tokens[next]?.text;
  const isMarked = mark === ":" || mark === "=";
  if (isMarked) next += 1;
  else while (isFiller(reading, parameter, next)) next += 1;
  const value = reading.tokens[next];
  const hasValue =
    value !== undefined && !isSeparator(value) && (value.kind === "quoted" || !CONNECTORS.has(value.lower));
  return hasValue || parameter.type === "boolean" ? { parameter, next, isMarked } : null;
}

/** "is", "to" and similar words between a name and its value. For a flag, "on" is the value. */
function isFiller(reading: Reading, parameter: Parameter, at: number): boolean {
  const token = reading.tokens[at];
  if (token?.kind !== "word" || !FILLERS.has(token.lower) || parameter.type === "boolean") return false;
  const isPlace = token.lower === "on" || token.lower === "in" || token.lower === "for";
  const isParticiple = participleRoot(reading.tokens[at - 1]?.lower ?? "") !== null;
  return !isPlace || isParticiple;
}

/** The parameter that the words at a position name best; the words after them do not matter. */
export function namedAt(reading: Reading, at: number): { parameter: Parameter; length: number } | null {
  const token = reading.tokens[at];
  if (token?.kind !== "word") return null;
  let best: { parameter: Parameter; length: number; isOpen: boolean } | null = null;
  for (const parameter of reading.words.parameters) {
    const length = namedLength(reading, parameter, at);
    if (length === 0) continue;
    const isOpen = !reading.isSet(parameter);
    if (best === null || length > best.length || (length === best.length && isOpen && !best.isOpen))
      best = { parameter, length, isOpen };
  }
  return best ?? byParticiple(reading, at) ?? byDescription(reading, at);
}

/** "worth 900": a word from the description of only one required parameter, before a number. */
function byDescription(reading: Reading, at: number): { parameter: Parameter; length: number } | null {
  const [token, value] = [reading.tokens[at], reading.tokens[at + 1]];
  if (!token || !value || token.lower.length < 4 || value.kind !== "number") return null;
  const [only, second] = reading.words.parameters.filter(({ describedBy }) => describedBy.has(token.lower));
  return only && second === undefined && only.required && isNumeric(only) && !PREPOSITIONS.has(token.lower)
    ? { parameter: only, length: 1 }
    : null;
}

/** How many tokens at a position are the parameter's name; 0 when the name is not there. */
function namedLength(reading: Reading, parameter: Parameter, at: number): number {
  const token = reading.tokens[at];
  if (!token) return 0;
  const asOne = splitName(token.text);
  if (token.lower === parameter.name.toLowerCase() || sameWords(asOne, parameter.words)) return 1;
  const span = reading.tokens.slice(at, at + parameter.words.length).map((each) => each.lower);
  if (parameter.words.length > 1 && sameWords(span, parameter.words)) return parameter.words.length;
  if (parameter.link && parameter.words.length > 1) {
    const thing = parameter.link.thing.split(" ");
    if (
      sameWords(
        reading.tokens.slice(at, at + thing.length).map((each) => each.lower),
        thing,
      )
    )
      return thing.length;
  }
  if (isOwnId(reading.words.parameters, parameter, token.lower)) return 1;
  return isOnlyOwner(reading.words.parameters, parameter, stem(token.lower)) ? 1 : 0;
}

const sameWords = (said: readonly string[], words: readonly string[]) =>
  said.length === words.length && said.every((word, index) => stem(word) === stem(words[index] ?? ""));

/** "id 5", "number 5": the one required link. */
const isOwnId = (parameters: readonly Parameter[], parameter: Parameter, word: string) =>
  (word === parameter.link?.ending || word === "number" || word === "id") &&
  parameter.link !== null &&
  parameters.filter((each) => each.link !== null && each.required).every((each) => each === parameter);

const VAGUE = new Set(
  "id name type value in on at to for of by with as from is text new first last".split(" "),
);

/** True when only this parameter has the word in its name. */
const isOnlyOwner = (parameters: readonly Parameter[], parameter: Parameter, word: string) =>
  word.length > 2 &&
  !VAGUE.has(word) &&
  !ORDINALS.has(word) &&
  parameter.words.map(stem).includes(word) &&
  parameters.filter((other) => other.words.map(stem).includes(word)).length === 1;

/** "starting", "assigned to", "priced at": a participle of a word in one parameter's name. */
function byParticiple(reading: Reading, at: number): { parameter: Parameter; length: number } | null {
  const root = participleRoot(reading.tokens[at]?.lower ?? "");
  if (root === null) return null;
  const fits = reading.words.parameters.filter((parameter) =>
    parameter.words.some((word) => word.startsWith(root) && word.length <= root.length + 4),
  );
  const [only, second] = fits;
  return only && second === undefined ? { parameter: only, length: 1 } : null;
}
