import {
  isDated,
  isLongText,
  isNumeric,
  linkedNoun,
  type Parameter,
  PREPOSITIONS,
  stem,
} from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { antecedentAt } from "../links/antecedents.ts";
import { latestLink, linkTo, linkToThingOf, type PlannedStep, stepsNamed } from "../links/links.ts";
import { QUANTIFIERS } from "../text/lexicon.ts";
import { skipDeterminers } from "../text/separators.ts";
import { isIdentifier, isPath, isTyped, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { boundAt } from "../values/boundaries.ts";
import { choice } from "../values/choices.ts";
import { give, personNamed } from "../values/link-values.ts";
import { isOwnPlace } from "../values/places.ts";
import { byIds } from "../values/pointing.ts";
import { readValue } from "../values/read-value.ts";
import { misread, openParameters, type Reading } from "../values/reading.ts";
import { keyed, readAs } from "./keyed.ts";
import { giveAll, listed, startsValue } from "./lists.ts";
import { suffixed } from "./suffixed.ts";

/**
 * Reads "by Alice", "on that blog", "for it", "to bob@test.com", "in project WEB"; null when the words fit no
 * parameter.
 */
export function preposition(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (token?.kind !== "word") return null;
  const bound = bounded(reading, at);
  if (bound || !PREPOSITIONS.has(token.lower)) return bound;
  const names = PREPOSITIONS.get(token.lower) ?? [];
  const start = skipDeterminers(reading.tokens, at + 1);
  const isOfAll = [at + 1, start].some((place) => QUANTIFIERS.has(reading.tokens[place]?.lower ?? ""));
  if (isOfAll) return null;
  return (
    (isNamedThing(reading, start) ? byNoun(reading, start, names) : null) ??
    byPointer(reading, at + 1, names) ??
    suffixed(reading, at + 1) ??
    byNoun(reading, start, names) ??
    byName(reading, at + 1, names) ??
    choice(reading, start) ??
    byRelation(reading, start, names) ??
    byShape(reading, start) ??
    byDescription(reading, start, token.lower) ??
    left(reading, start, token.lower)
  );
}

/** "the blog Two", "the order 900": the noun says the kind of thing, and the next word says which one. */
function isNamedThing(reading: Reading, at: number): boolean {
  const value = reading.tokens[at + 1];
  if (!value || value.kind === "mark") return false;
  return isTyped(value) || stepsNamed(reading.steps, value.text).length > 0;
}

/** "under 50", "at least 3": for the only numeric parameter whose name means this limit. */
function bounded(reading: Reading, at: number): Argument | null {
  const bound = boundAt(reading, at);
  if (!bound) return null;
  const next = at + bound.words.length;
  const [only, second] = openParameters(reading).filter(
    (each) => isNumeric(each) && each.words.some((word) => bound.names.includes(word)),
  );
  const value = only && valueFor(only, reading.tokens[next]?.text ?? "", "number");
  return only && second === undefined && value !== undefined
    ? { next: next + 1, gives: [{ parameter: only, value }], isTyped: true }
    : null;
}

/** "to it", "for her", "with that booking", "on the first one". */
function byPointer(reading: Reading, at: number, names: readonly string[]): Argument | null {
  const meant = antecedentAt(reading, at);
  if (!meant) return null;
  const isNamed = (parameter: Parameter) => parameter.words.some((word) => names.includes(word));
  const open = openParameters(reading);
  const ids = byIds(meant, [...open.filter(isNamed), ...open.filter((each) => !isNamed(each))]);
  if (ids) return ids;
  const [only, second] = open.flatMap((parameter) =>
    meant.steps.flatMap((step) => linked(reading, parameter, step, names)),
  );
  return only && second === undefined ? { next: meant.next, gives: [only], isTyped: true } : null;
}

/** "for order 900", "in project WEB", "on the blog", "for the file a.txt", "to the cart". */
function byNoun(reading: Reading, at: number, names: readonly string[]): Argument | null {
  const token = reading.tokens[at];
  if (token?.kind !== "word") return null;
  const named = keyed(reading, at, { isBehindPreposition: true });
  if (named) return named;
  const noun = stem(token.lower);
  const { words } = reading;
  const link = openParameters(reading).find((each) => linkedNoun(each) === noun);
  if (link && !startsValue(reading, at + 1)) return latest(reading, link, at + 1);
  if (startsValue(reading, at + 1) && (words.nouns.includes(noun) || words.objects.has(noun)))
    return byRelation(reading, at + 1, names) ?? byShape(reading, at + 1);
  const isPlace = words.qualifiers.includes(noun) || isOwnPlace(reading, at);
  return isPlace && !link ? { next: at + 1 } : null;
}

/**
 * The thing made last. When no step made one, the id stays open and becomes a question.
 * @throws {NotUnderstoodError} when one clause made several
 */
function latest(reading: Reading, parameter: Parameter, next: number): Argument {
  const found = latestLink(parameter, reading.steps);
  if (found === "ambiguous")
    throw misread(reading, `it is open which ${parameter.link?.thing} is meant; say its name`);
  return found === null ? { next } : { next, gives: [{ parameter, value: found.reference }], isTyped: true };
}

/** "by Alice", "for Bob": the name of an earlier step. */
function byName(reading: Reading, at: number, names: readonly string[]): Argument | null {
  const value = startsValue(reading, at) ? readValue(reading, at, "name") : null;
  if (!value) return null;
  const open = openParameters(reading);
  const links = open.filter((each) => each.link !== null);
  const named = stepsNamed(reading.steps, value.text);
  const found = links.flatMap((parameter) =>
    named.flatMap((step) => linked(reading, parameter, step, names)),
  );
  if (found.length > 1) throw misread(reading, `several earlier steps are called "${value.text}"`);
  const [only] = found;
  if (only) return { next: value.next, gives: [only], isTyped: true };
  const person = open.flatMap((parameter) => {
    const address = personNamed(reading, parameter, value.text);
    return address === null ? [] : [{ parameter, value: parameter.type === "array" ? [address] : address }];
  })[0];
  if (person) return { next: value.next, gives: [person], isTyped: true };
  const gap = names.includes("author") ? links.find((parameter) => parameter.required) : undefined;
  return gap ? { ...give(reading, gap, value), next: value.next } : null;
}

/**
 * True for a parameter that is named after a role, such as `senderId`, and not after a kind of thing that a
 * tool makes.
 */
const isRole = (reading: Reading, parameter: Parameter) => !reading.things.has(linkedNoun(parameter) ?? "");

/** A step fits by the kind of thing that it makes, or by the preposition: "from Alice" fits `senderId`. */
function linked(
  reading: Reading,
  parameter: Parameter,
  step: PlannedStep,
  names: readonly string[],
): { parameter: Parameter; value: JsonValue }[] {
  const isNamed = isRole(reading, parameter) && parameter.words.some((word) => names.includes(word));
  const reference = linkTo(parameter, step) ?? (isNamed ? linkToThingOf(parameter, step) : null);
  return reference === null ? [] : [{ parameter, value: reference }];
}

/** A parameter whose name fits the preposition: "from 1001" is `from_account`, "in Paris" is `city`. */
function byRelation(reading: Reading, at: number, names: readonly string[]): Argument | null {
  for (const name of names) {
    for (const parameter of openParameters(reading)) {
      if (!parameter.words.includes(name) || isDated(parameter)) continue;
      const isOwnNoun = parameter.words.map(stem).includes(stem(reading.tokens[at]?.lower ?? ""));
      const start = isOwnNoun && startsValue(reading, at + 1) ? at + 1 : at;
      const value = startsValue(reading, start) ? readAs(reading, parameter, start) : null;
      if (!value || (parameter.link && !isIdentifier(value.text))) continue;
      const isFitting = valueFor(parameter, value.text, value.kind) !== undefined;
      if (isFitting && isLongText(parameter)) return { ...give(reading, parameter, value), next: value.next };
      if (isFitting) return giveAll(reading, parameter, value);
      const isAddress = (parameter.shape ?? parameter.item?.shape) === "email" && value.kind === "word";
      if (isAddress && parameter.required) return { ...give(reading, parameter, value), next: value.next };
    }
  }
  return null;
}

/** A value whose shape only one open parameter takes: "to pay@x.test", "on WEB-44", "into data.zip". */
function byShape(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (!token || !isTyped(token) || token.kind === "quoted" || token.kind === "number") return null;
  const takes = (each: Parameter) => {
    const shape = each.shape ?? each.item?.shape ?? null;
    if (token.kind === "email" || token.kind === "url") return shape === token.kind;
    if (each.link) return each.required && valueFor(each, token.text, token.kind) !== undefined;
    return each.required && isPath(token.text) && holdsPath(each);
  };
  const [only, second] = openParameters(reading).filter(takes);
  const value = only && second === undefined ? readValue(reading, at, "name") : null;
  return only && value ? { ...giveAll(reading, only, value), isTyped: true } : null;
}

const holdsPath = ({ words, describedBy }: Parameter) =>
  ["path", "file", "folder", "directory", "source", "destination"].some(
    (word) => words.at(-1) === word || describedBy.has(word),
  );

/** "from usd" where a description ends with the same word: "converted from". */
function byDescription(reading: Reading, at: number, said: string): Argument | null {
  if (!["from", "to", "into", "by"].includes(said) || !startsValue(reading, at)) return null;
  const [only, second] = openParameters(reading).filter(
    ({ describedBy, link }) => link === null && [...describedBy].at(-1) === said,
  );
  const value = only && second === undefined ? readValue(reading, at, "name") : null;
  const given = only && value ? valueFor(only, value.text, value.kind) : undefined;
  return only && value && given !== undefined
    ? { next: value.next, gives: [{ parameter: only, value: given }] }
    : null;
}

/** Prepositions that only say that something belongs to the clause. */
const PLACING = new Set(["for", "in", "of", "at"]);

/**
 * A value that no rule could place. It is for the one required parameter that has no value after all rules.
 */
function left(reading: Reading, at: number, said: string): Argument | null {
  const token = reading.tokens[at];
  const isOther = token?.kind === "email" || token?.kind === "url";
  if (!startsValue(reading, at) || isOther || !(PLACING.has(said) || isTyped(token))) return null;
  const first = readValue(reading, at, "name");
  if (!first) return null;
  const { values, next } =
    first.kind === "number" ? { values: [first], next: first.next } : listed(reading, first);
  // "for germans going": a participle shows that the words are more than a value.
  const isOdd = values.some(({ text, kind }) => kind === "word" && / \p{Ll}+ing\b/u.test(text));
  return isOdd ? null : { next, pending: values };
}
