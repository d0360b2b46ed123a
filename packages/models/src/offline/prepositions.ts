import type { JsonValue } from "@planwright/plan";
import { POINTERS, PREPOSITIONS, PRONOUNS } from "./lexicon.ts";
import { latestLink, linkTo, linkToThingOf, type PlannedStep, stepsNamed } from "./links.ts";
import { isContent, isIdentifier, isTitle, type Parameter, valueFor } from "./parameter.ts";
import {
  beginsPhrase,
  isSeparator,
  keywordAt,
  misread,
  type Reading,
  type ReadValue,
  readValue,
  skipDeterminers,
} from "./reading.ts";
import { stem } from "./words.ts";

/** What a preposition with the words behind it gives. */
export type Prepositional =
  /** A value for a parameter. `isLink` when it points to an earlier step. */
  | { type: "value"; parameter: Parameter; value: JsonValue; next: number; isLink: boolean }
  /** Words that only repeat what the tool's name says: "to the cart". */
  | { type: "nothing"; next: number };

/** Reads "by Alice", "on that blog", "for it", "to bob@test.com"; null when the words fit no parameter. @throws {NotUnderstoodError} */
export function readPreposition(reading: Reading, at: number): Prepositional | null {
  const preposition = reading.tokens[at];
  if (preposition?.kind !== "word" || !Object.hasOwn(PREPOSITIONS, preposition.lower)) return null;
  const names = PREPOSITIONS[preposition.lower] ?? [];
  return (
    byNoun(reading, at) ??
    byPronoun(reading, at) ??
    byName(reading, at, names) ??
    byParameterName(reading, at, names) ??
    byOnlyGap(reading, at)
  );
}

/** True when a preposition inside a text plainly begins a link or a typed value rather than going on with the text. */
export function isPlainLink(reading: Reading, at: number): boolean {
  const word = reading.tokens[at]?.lower ?? "";
  if (!Object.hasOwn(PREPOSITIONS, word)) return false;
  if (word === "by" && openLinks(reading).some((parameter) => parameter.required)) return true;
  if (PRONOUNS.has(reading.tokens[at + 1]?.lower ?? "") && !nounLink(reading, at)) return false;
  if (nounLink(reading, at)) return true;
  const names = PREPOSITIONS[word] ?? [];
  if (byName(reading, at, names)) return true;
  const typed = byParameterName(reading, at, names);
  return typed?.type === "value" && typed.parameter.shape !== null;
}

const openLinks = (reading: Reading) =>
  reading.words.parameters.filter((parameter) => parameter.link !== null && !reading.isSet(parameter));

/** A parameter whose kind of thing is the noun behind the preposition: "on that blog" -> blogId. */
function nounLink(reading: Reading, at: number): { parameter: Parameter; next: number } | null {
  const position = skipDeterminers(reading.tokens, at + 1);
  const token = reading.tokens[position];
  if (token?.kind !== "word") return null;
  const noun = stem(token.lower);
  const parameter = openLinks(reading).find((each) => each.link?.thing.split(" ").at(-1) === noun);
  return parameter ? { parameter, next: position + 1 } : null;
}

function byNoun(reading: Reading, at: number): Prepositional | null {
  const found = nounLink(reading, at);
  if (!found) {
    const position = skipDeterminers(reading.tokens, at + 1);
    const noun = stem(reading.tokens[position]?.lower ?? "");
    return reading.words.qualifiers.includes(noun) ? { type: "nothing", next: position + 1 } : null;
  }
  const { parameter, next } = found;
  if (startsValue(reading, next)) {
    const value = readName(reading, next);
    if (value)
      return { type: "value", parameter, ...linkByName(reading, parameter, value), next: value.next };
  }
  return { type: "value", parameter, value: latestOf(reading, parameter), next, isLink: true };
}

/** True when the words at a position can be a value, and not the beginning of another argument. */
export function startsValue(reading: Reading, at: number): boolean {
  const token = reading.tokens[at];
  if (!token || isSeparator(token)) return false;
  if (token.kind !== "word") return true;
  return (
    !Object.hasOwn(PREPOSITIONS, token.lower) &&
    !beginsPhrase(reading.tokens, at) &&
    !keywordAt(reading, at) &&
    token.lower !== "having"
  );
}

const readName = (reading: Reading, at: number): ReadValue | null =>
  readValue(reading, at, "name", () => false);

/** What a parameter points to when the sentence gives a name or an id for it. @throws {NotUnderstoodError} */
export function linkByName(
  reading: Reading,
  parameter: Parameter,
  value: ReadValue,
): { value: JsonValue; isLink: boolean } {
  const references = referencesByName(reading, parameter, value.text);
  if (references.length > 1) throw misread(reading, `several earlier steps are called "${value.text}"`);
  const reference = references[0];
  if (reference !== undefined) return { value: reference, isLink: true };
  const literal =
    isIdentifier(value.text) || value.kind === "quoted"
      ? valueFor(parameter, value.text, value.kind)
      : undefined;
  if (literal === undefined) {
    throw misread(reading, `no earlier step makes "${value.text}", and it is no id for "${parameter.name}"`);
  }
  return { value: literal, isLink: false };
}

const referencesByName = (reading: Reading, parameter: Parameter, text: string) =>
  stepsNamed(reading.steps, text).flatMap((step) => linkTo(parameter, step) ?? []);

/** The step made last that the parameter can point to. @throws {NotUnderstoodError} */
export function latestOf(reading: Reading, parameter: Parameter): string {
  const latest = latestLink(parameter, reading.steps);
  if (latest === "ambiguous")
    throw misread(reading, `it is open which ${parameter.link?.thing} is meant; say its name`);
  if (latest === null)
    throw misread(reading, `no earlier step makes a ${parameter.link?.thing} for "${parameter.name}"`);
  return latest.reference;
}

function byPronoun(reading: Reading, at: number): Prepositional | null {
  const token = reading.tokens[at + 1];
  if (token?.kind !== "word" || !PRONOUNS.has(token.lower)) return null;
  for (const step of reading.steps.toReversed()) {
    for (const parameter of openLinks(reading)) {
      if (linkTo(parameter, step) === null) continue;
      return { type: "value", parameter, value: latestOf(reading, parameter), next: at + 2, isLink: true };
    }
  }
  return null;
}

function byName(reading: Reading, at: number, names: readonly string[]): Prepositional | null {
  const links = openLinks(reading);
  const value = readName(reading, at + 1);
  if (!value || links.length === 0) return null;
  const named = stepsNamed(reading.steps, value.text);
  const found = links.flatMap((parameter) =>
    named.flatMap((step) => linked(reading, parameter, step, names)),
  );
  if (found.length > 1) throw misread(reading, `several earlier steps are called "${value.text}"`);
  const only = found[0];
  if (only) return { type: "value", ...only, next: value.next, isLink: true };
  const gap = names.includes("author") ? links.find((parameter) => parameter.required) : undefined;
  if (!gap || POINTERS.has(reading.tokens[at + 1]?.lower ?? "")) return null;
  return { type: "value", parameter: gap, ...linkByName(reading, gap, value), next: value.next };
}

/** True for a parameter named after a part played, such as `senderId`, and not after a kind of thing that some tool makes. */
const isRole = (reading: Reading, parameter: Parameter) =>
  !reading.things.has(parameter.link?.thing.split(" ").at(-1) ?? "");

/** A step fits by the kind of thing it makes, or by the preposition: "from Alice" names `senderId`. */
function linked(reading: Reading, parameter: Parameter, step: PlannedStep, names: readonly string[]) {
  const isNamed = isRole(reading, parameter) && parameter.words.some((word) => names.includes(word));
  const reference = linkTo(parameter, step) ?? (isNamed ? linkToThingOf(parameter, step) : null);
  return reference === null ? [] : [{ parameter, value: reference }];
}

function byParameterName(reading: Reading, at: number, names: readonly string[]): Prepositional | null {
  const start = skipDeterminers(reading.tokens, at + 1);
  if (!startsValue(reading, start)) return null;
  const value = readName(reading, start);
  if (!value) return null;
  for (const name of names) {
    for (const parameter of reading.words.parameters) {
      if (!parameter.words.includes(name) || reading.isSet(parameter)) continue;
      const given = valueFor(parameter, value.text, value.kind);
      if (given !== undefined)
        return { type: "value", parameter, value: given, next: value.next, isLink: false };
    }
  }
  return null;
}

/** Prepositions that say no more than that something belongs to the clause. */
const PLACING = new Set(["for", "in", "of", "at"]);

/** The one required value that is still open takes what no other rule placed, unless it is a title or a text. */
function byOnlyGap(reading: Reading, at: number): Prepositional | null {
  const start = skipDeterminers(reading.tokens, at + 1);
  if (!PLACING.has(reading.tokens[at]?.lower ?? "") || !startsValue(reading, start)) return null;
  const gaps = reading.words.parameters.filter(
    (each) => each.required && !reading.isSet(each) && each.link === null,
  );
  const gap = gaps[0];
  if (!gap || gaps.length > 1 || isContent(gap) || isTitle(gap)) return null;
  const value = readName(reading, start);
  const given = value && valueFor(gap, value.text, value.kind);
  return value && given !== undefined && given !== null
    ? { type: "value", parameter: gap, value: given, next: value.next, isLink: false }
    : null;
}
