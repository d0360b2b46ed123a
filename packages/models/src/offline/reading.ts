import { NotUnderstoodError } from "../draft-error.ts";
import {
  CONDITION_WORDS,
  CONNECTORS,
  CONTENT_NAMES,
  DETERMINERS,
  NAME_NAMES,
  PREPOSITIONS,
  QUERY_NAMES,
  SHORT_NAMES,
  TITLE_NAMES,
  VALUE_PHRASES,
} from "./lexicon.ts";
import type { PlannedStep } from "./links.ts";
import { isFreeText, type Parameter, valueFor } from "./parameter.ts";
import type { Token } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";
import { splitName, stem } from "./words.ts";

/** The arguments of one clause while they are read for one tool. */
export interface Reading {
  sentence: string;
  /** The clause as it stands in the sentence, for messages. */
  clause: string;
  words: ToolWords;
  /** Tokens of the clause behind its head. */
  tokens: readonly Token[];
  /** Kinds of things that the catalogue has tools for. */
  things: ReadonlySet<string>;
  /** Steps of the clauses before. */
  steps: readonly PlannedStep[];
  /** True when the clause speaks of several objects: "authors Alice and Bob". */
  isPlural: boolean;
  /** Names of parameters that have a value already, in the object under way. */
  isSet: (parameter: Parameter) => boolean;
}

/** The error for a part of the clause that no rule covers. */
export const misread = (reading: Pick<Reading, "clause">, reason: string) =>
  new NotUnderstoodError({ clause: reading.clause, reason, nearestTools: [] });

/** True for `,`, `and` and other marks between arguments. */
export const isSeparator = (token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "quoted" &&
  (token.kind === "mark" || token.lower === "and" || token.lower === "&" || token.lower === "plus");

/** A parameter named in the clause, with where its value starts. */
export interface Keyword {
  parameter: Parameter;
  next: number;
  /** Written as `key:` or `key=`. */
  isMarked: boolean;
}

const FILLER_AFTER_KEY = new Set(["is", "to", "of", "as", "address"]);

/** The parameter that the words at a position name, when a value follows them. */
export function keywordAt(reading: Reading, at: number): Keyword | null {
  if (reading.tokens[at]?.kind !== "word") return null;
  let best: { parameter: Parameter; length: number } | null = null;
  for (const parameter of reading.words.parameters) {
    const length = namedLength(reading, parameter, at);
    if (length > 0 && (best === null || length > best.length)) best = { parameter, length };
  }
  if (best === null) return null;
  let next = at + best.length;
  const mark = reading.tokens[next]?.text;
  const isMarked = mark === ":" || mark === "=";
  if (isMarked) next += 1;
  else while (FILLER_AFTER_KEY.has(reading.tokens[next]?.lower ?? "")) next += 1;
  const value = reading.tokens[next];
  const hasValue =
    value !== undefined && !isSeparator(value) && (value.kind === "quoted" || !CONNECTORS.has(value.lower));
  return hasValue || best.parameter.type === "boolean" ? { parameter: best.parameter, next, isMarked } : null;
}

/** How many tokens at a position are the parameter's name; 0 when they are not. */
function namedLength(reading: Reading, parameter: Parameter, at: number): number {
  const token = reading.tokens[at];
  if (!token) return 0;
  const asOne = splitName(token.text);
  if (token.lower === parameter.name.toLowerCase() || sameWords(asOne, parameter.words)) return 1;
  const span = reading.tokens.slice(at, at + parameter.words.length).map((each) => each.lower);
  if (parameter.words.length > 1 && sameWords(span, parameter.words)) return parameter.words.length;
  if (parameter.link && stem(token.lower) === parameter.link.thing && parameter.words.length > 1) return 1;
  return isOnlyOwner(reading.words.parameters, parameter, stem(token.lower)) ? 1 : 0;
}

const sameWords = (said: readonly string[], words: readonly string[]) =>
  said.length === words.length && said.every((word, index) => stem(word) === stem(words[index] ?? ""));

const VAGUE = new Set("id name type value in on at to for of by with as from is text new".split(" "));

/** True when a word stands in the name of this parameter alone. */
const isOnlyOwner = (parameters: readonly Parameter[], parameter: Parameter, word: string) =>
  word.length > 2 &&
  !VAGUE.has(word) &&
  parameter.words.map(stem).includes(word) &&
  parameters.filter((other) => other.words.map(stem).includes(word)).length === 1;

/** A phrase such as "titled" or "about" at a position, with the parameter that it fills; null when nothing is left to fill. */
export function phraseAt(
  reading: Reading,
  at: number,
): { parameter: Parameter; kind: (typeof VALUE_PHRASES)[number]["kind"]; next: number } | null {
  if (reading.tokens[at]?.kind !== "word") return null;
  for (const { words, kind } of VALUE_PHRASES) {
    if (!words.every((word, index) => reading.tokens[at + index]?.lower === word)) continue;
    const parameter = phraseTarget(reading, kind, at);
    return parameter && reading.tokens[at + words.length]
      ? { parameter, kind, next: at + words.length }
      : null;
  }
  return null;
}

/** True when a phrase such as "titled" stands at a position, whether or not anything is left to fill. */
export const beginsPhrase = (tokens: readonly Token[], at: number) =>
  tokens[at]?.kind === "word" &&
  VALUE_PHRASES.some(({ words }) => words.every((word, index) => tokens[at + index]?.lower === word));

function phraseTarget(
  reading: Reading,
  kind: (typeof VALUE_PHRASES)[number]["kind"],
  at: number,
): Parameter | null {
  const open = reading.words.parameters.filter(
    (parameter) => parameter.type === "string" && parameter.link === null && !reading.isSet(parameter),
  );
  const first = (names: readonly string[], isWanted: (parameter: Parameter) => boolean = () => true) =>
    names.flatMap((name) => open.filter((each) => each.words.at(-1) === name && isWanted(each)))[0] ?? null;
  const isRequired = (parameter: Parameter) => parameter.required;
  switch (kind) {
    case "title":
      return first(TITLE_NAMES);
    case "name":
      return first(NAME_NAMES);
    case "content":
      return first(CONTENT_NAMES, isRequired) ?? first(CONTENT_NAMES);
    case "query":
      return first(QUERY_NAMES);
    case "topic":
      return (
        (bringsContent(reading.tokens, at + 1) ? first(TITLE_NAMES) : null) ??
        first(CONTENT_NAMES, isRequired) ??
        first(["topic", "about", ...QUERY_NAMES]) ??
        first(CONTENT_NAMES) ??
        first(TITLE_NAMES)
      );
  }
}

/** "about X saying Y": what it is about is then no more than its title. */
const bringsContent = (tokens: readonly Token[], from: number) =>
  VALUE_PHRASES.some(
    ({ words, kind }) =>
      kind === "content" &&
      tokens.some(
        (token, at) =>
          at >= from &&
          token.kind === "word" &&
          words.every((word, index) => tokens[at + index]?.lower === word),
      ),
  );

/**
 * How far a value reaches.
 * `name`: a short value, ends at any sign of another argument. `key`: text behind its parameter's name, ends where another is named.
 * `text`: text behind "about" or "saying", ends only where another argument plainly begins.
 */
export type Mode = "name" | "key" | "text";

/** A value as it stands in the sentence. */
export interface ReadValue {
  text: string;
  kind: Token["kind"];
  next: number;
}

const PARTICLES = new Set("of the van der de von da la le bin al el".split(" "));

/** Reads the value at a position. `isLink` says whether a preposition at a position plainly begins a link. */
export function readValue(
  reading: Reading,
  at: number,
  mode: Mode,
  isLink: (at: number) => boolean,
): ReadValue | null {
  const first = reading.tokens[at];
  if (!first || isSeparator(first)) return null;
  if (first.kind === "quoted") return { text: first.text, kind: "quoted", next: at + 1 };
  if (mode === "name" && first.kind !== "word") return { text: first.text, kind: first.kind, next: at + 1 };
  const isProper = /^\p{Lu}/u.test(first.text);
  let next = at + 1;
  let end = first.end;
  while (next < reading.tokens.length) {
    const token = reading.tokens[next];
    if (!token) break;
    if (CONDITION_WORDS.has(token.lower) && token.kind === "word") break;
    if (isSeparator(token)) {
      const behind = skipSeparators(reading.tokens, next);
      if (mode === "name" || reading.isPlural || behind >= reading.tokens.length) break;
      if (beginsArgument(reading, behind, mode, true, isLink)) break;
    } else if (beginsArgument(reading, next, mode, false, isLink)) break;
    else if (mode === "name" && endsName(token, isProper)) break;
    end = token.end;
    next += 1;
  }
  const text = reading.sentence.slice(first.start, end).replace(/\s+/g, " ");
  return { text, kind: next === at + 1 ? first.kind : "word", next };
}

const endsName = (token: Token, isProper: boolean) =>
  token.kind === "quoted" ||
  token.kind === "email" ||
  token.kind === "url" ||
  (isProper && /^\p{Ll}/u.test(token.text) && !PARTICLES.has(token.lower));

/** The first position at or behind `at` that is no separator. */
export function skipSeparators(tokens: readonly Token[], at: number): number {
  let next = at;
  while (isSeparator(tokens[next])) next += 1;
  return next;
}

/** True when another argument begins at a position, as far as a value in this mode lets it. */
function beginsArgument(
  reading: Reading,
  at: number,
  mode: Mode,
  isSeparated: boolean,
  isLink: (at: number) => boolean,
): boolean {
  const token = reading.tokens[at];
  if (token?.kind !== "word") return false;
  if (phraseAt(reading, at)) return true;
  const connects = CONNECTORS.has(token.lower);
  const keywordPosition = skipDeterminers(reading.tokens, connects ? at + 1 : at);
  const keyword = keywordAt(reading, keywordPosition);
  if (keyword && !reading.isSet(keyword.parameter)) {
    if (mode !== "text" || connects || isSeparated || keyword.isMarked) return true;
    const value = reading.tokens[keyword.next];
    const isTyped = keyword.parameter.type !== "string" || keyword.parameter.shape !== null;
    if (isTyped && value && valueFor(keyword.parameter, value.text, value.kind) !== undefined) return true;
  }
  if (connects && mode === "name") return true;
  if (!Object.hasOwn(PREPOSITIONS, token.lower)) return false;
  return mode === "name" ? token.lower !== "of" : isLink(at);
}

/** The first position at or behind `at` that is no article or other determiner. */
export function skipDeterminers(tokens: readonly Token[], at: number): number {
  let next = at;
  while (tokens[next]?.kind === "word" && DETERMINERS.has(tokens[next]?.lower ?? "") && tokens[next + 1])
    next += 1;
  return next;
}

/** How a parameter's value is read behind its own name. */
export const modeFor = (parameter: Parameter): Mode =>
  isFreeText(parameter) && !SHORT_NAMES.has(parameter.words.at(-1) ?? "") ? "key" : "name";
