import {
  CONTENT_NAMES,
  IDENTITY_NAMES,
  isContent,
  isFreeText,
  isLongText,
  isTitle,
  linkedNoun,
  NAME_NAMES,
  type Parameter,
  QUERY_NAMES,
  stem,
} from "@planwright/models/words";
import { escapeText } from "@planwright/plan";
import { otherThan } from "../links/relations.ts";
import { POINTERS, PRONOUNS } from "../text/lexicon.ts";
import { isIdentifier, isPath, isTyped, PATH_NAMES, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { give } from "../values/link-values.ts";
import { callingParameter } from "../values/phrases.ts";
import { type ReadValue, readValue } from "../values/read-value.ts";
import { type Mode, openParameters, type Reading } from "../values/reading.ts";
import { giveAll, startsValue } from "./lists.ts";

/**
 * The name or id of the thing, when no word before it names a parameter: "create author Alice", "close issue
 * 12".
 */
export function named(reading: Reading, at: number, isSeparated: boolean): Argument | null {
  const token = reading.tokens[at];
  if (!isSeparated || !startsValue(reading, at)) return null;
  if (token?.kind === "word" && (PRONOUNS.has(token.lower) || POINTERS.has(token.lower))) return null;
  const person = personNamed(reading, at);
  if (person) return person;
  const parameter = reading.naming() ?? namingParameter(reading, at);
  if (!parameter) return null;
  const isNext = reading.naming() !== null;
  const value = readName(reading, parameter, at, isNext);
  if (!value || isOdd(reading, parameter, value)) return null;
  if (parameter.type === "array") return { ...giveAll(reading, parameter, value), isTyped: isTyped(token) };
  const given = give(isNext ? { ...reading, isSet: () => false } : reading, parameter, value);
  const isShown = given.isTyped === true || isTyped(token);
  const bare = isLongText(parameter) && value.kind !== "quoted" ? { bareText: value.text } : {};
  return { ...given, ...bare, next: value.next, named: { parameter, text: value.text }, isTyped: isShown };
}

/**
 * True for values that are no name: "summarize report.txt" means the content of the file, and in "non-vip
 * customer Zed" words come before the name.
 */
function isOdd(reading: Reading, parameter: Parameter, { text, kind }: ReadValue): boolean {
  if (kind === "quoted") return false;
  if (kind === "number" && isTitle(parameter)) return true;
  if (isContent(parameter)) return isPath(text) || kind === "url";
  const words = text.toLowerCase().split(" ");
  return words.slice(1).some((word) => stem(word) === reading.words.thing);
}

/**
 * Reads with the parameter counted as set, so that words of its name do not end the value. For the next
 * object all other parameters are open.
 */
function readName(reading: Reading, parameter: Parameter, at: number, isNext: boolean): ReadValue | null {
  const isSet = (each: Parameter) => each === parameter || (!isNext && reading.isSet(each));
  return readValue({ ...reading, isSet }, at, modeOf(reading, parameter));
}

/**
 * A text when only a text is missing, a title when the parameter is not simply a name, else a short value.
 */
function modeOf(reading: Reading, parameter: Parameter): Mode {
  if (reading.isPlural || !isLongText(parameter) || parameter.words.at(-1) === "name") return "name";
  if (isContent(parameter)) return isOnlyGap(reading, parameter) ? "text" : "name";
  return isTitle(parameter) || isOnlyGap(reading, parameter) ? "title" : "name";
}

/** True for the only required parameter that is not a link: then a long text may be meant. */
function isOnlyGap(reading: Reading, parameter: Parameter): boolean {
  const gaps = reading.words.parameters.filter((each) => each.required && each.link === null);
  return gaps.length === 1 && gaps[0] === parameter;
}

function namingParameter(reading: Reading, at: number): Parameter | null {
  const { words } = reading;
  const names = words.isMaking ? NAME_NAMES : [...IDENTITY_NAMES, ...QUERY_NAMES];
  const open = openParameters(reading).filter((each) => each.type !== "boolean");
  const value = readValue(reading, at, "name");
  if (!value) return null;
  const isFitting = (each: Parameter) =>
    each.link !== null ||
    (valueFor(each, value.text, value.kind) !== undefined && !isStrayPath(each, value, wantsText));
  const wantsText = open.some((each) => each.required && isContent(each));
  const isOwn = (each: Parameter) => each.link === null || isOwnThing(linkedNoun(each), words.nouns);
  for (const name of [...names, words.thing ?? "", ...(value.kind === "quoted" ? CONTENT_NAMES : [])]) {
    const found = open.filter((each) => isCalled(each, name, words.nouns) && isFitting(each) && isOwn(each));
    if (found.length > 0) return severalAlike(found) ? null : aboutThing(found, words.thing);
  }
  const calling = callingParameter(reading, open.filter(isFitting));
  if (calling) return calling;
  const gaps = open.filter((each) => each.required && each.link === null && isFitting(each));
  if (gaps.length === 1) return gaps[0] ?? null;
  const other = otherThan(gaps, reading.tokens[value.next]);
  if (other && gaps.every(isFreeText)) return other;
  return isIdentifier(value.text) ? linkFor(reading, open, value) : null;
}

/** An id for the only required link, or, before "to WEB-4", for the link that "to" does not name. */
function linkFor(reading: Reading, open: readonly Parameter[], value: ReadValue): Parameter | null {
  const links = open.filter(
    (each) => each.required && each.link !== null && valueFor(each, value.text, value.kind) !== undefined,
  );
  if (links.length === 1) return links[0] ?? null;
  return otherThan(links, reading.tokens[value.next]);
}

const OWN_NAMES = new Set("full display user screen legal".split(" "));

/**
 * The name of the thing itself, and not of a person with a role in it, such as `author_name` of a comment.
 */
const isOwnName = (words: readonly string[], nouns: readonly string[]) =>
  words.slice(0, -1).every((word) => OWN_NAMES.has(word) || nouns.includes(stem(word)));

/** A list counts when its items have this name: `paths`. */
const isCalled = ({ words, type, link }: Parameter, name: string, nouns: readonly string[]) =>
  (words.at(-1) === name && (name !== "name" || isOwnName(words, nouns))) ||
  (type === "array" && link === null && stem(words.at(-1) ?? "") === name);

/**
 * From several parameters, the one whose description mentions the tool's thing, else the required one; null
 * when neither rule leaves exactly one.
 */
function aboutThing(found: readonly Parameter[], thing: string | null): Parameter | null {
  const described = found.filter(({ describedBy }) => [...describedBy].some((word) => stem(word) === thing));
  const required = found.filter((each) => each.required);
  for (const fits of [found, described, required]) if (fits.length === 1) return fits[0] ?? null;
  return null;
}

/** Words with spaces between them are no path, unless they are quoted and no required text is open. */
const isStrayPath = ({ words }: Parameter, { text, kind }: ReadValue, wantsText: boolean) =>
  PATH_NAMES.has(stem(words.at(-1) ?? "")) && (kind !== "quoted" || wantsText) && /\s/.test(text);

/** Two required ids of one kind ("merge contacts 11 and 12"): the sentence does not say which is which. */
const severalAlike = (found: readonly Parameter[]) =>
  found.filter((each) => each.required && each.link !== null).length > 1;

/**
 * True for a noun that means the thing of the tool, by its last word or its first letters: `pr_number` of a
 * pull request.
 */
function isOwnThing(noun: string | null, nouns: readonly string[]): boolean {
  if (noun === null || noun === nouns.at(-1)) return true;
  return nouns.length > 1 && noun === nouns.map((word) => word.charAt(0)).join("");
}

/** "Ana Torres" for a tool that has separate parameters for the first and the last name. */
function personNamed(reading: Reading, at: number): Argument | null {
  const part = (word: string) =>
    reading.words.parameters.find(
      (each) => each.words.length === 2 && each.words[0] === word && each.words[1] === "name",
    );
  const [first, last] = [part("first"), part("last")];
  if (!first || !last || (reading.isSet(first) && reading.naming() !== first)) return null;
  const value = readName(reading, first, at, reading.naming() !== null);
  const [given, family, more] = value?.text.split(" ") ?? [];
  if (!value || value.kind === "email" || given === undefined || more !== undefined) return null;
  const gives = [{ parameter: first, value: escapeText(given) }];
  if (family !== undefined) gives.push({ parameter: last, value: escapeText(family) });
  return { next: value.next, gives, named: { parameter: first, text: value.text } };
}
