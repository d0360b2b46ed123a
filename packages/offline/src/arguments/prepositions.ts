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

/** "the blog Two", "the order 900": the noun says which kind, and what follows which one. */
function isNamedThing(reading: Reading, at: number): boolean {
  const value = reading.tokens[at + 1];
  if (!value || value.kind === "mark") return false;
  return isTyped(value) || stepsNamed(reading.steps, value.text).length > 0;
}

/** "under 50", "at least 3": the one parameter that bounds from that side. */
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
 * The thing made last; where none was made its id is left open, to be asked for.
 * @throws {NotUnderstoodError} when several were
 */
function latest(reading: Reading, parameter: Parameter, next: number): Argument {
  const found = latestLink(parameter, reading.steps);
  if (found === "ambiguous")
    throw misread(reading, `it is open which ${parameter.link?.thing} is meant; say its name`);
  return found === null ? { next } : { next, gives: [{ parameter, value: found.reference }], isTyped: true };
}

/** "by Alice", "for Bob": what an earlier step is called. */
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
 * True for a parameter named after a part played, such as `senderId`, and not after a kind of thing that some
 * tool makes.
 */
const isRole = (reading: Reading, parameter: Parameter) => !reading.things.has(linkedNoun(parameter) ?? "");

/** A step fits by the kind of thing it makes, or by the preposition: "from Alice" names `senderId`. */
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

/** A parameter whose name says the relation: "from 1001" is `from_account`, "in Paris" is `city`. */
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

/** A value whose look only one open parameter takes: "to pay@x.test", "on WEB-44", "into data.zip". */
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

/** Prepositions that say no more than that something belongs to the clause. */
const PLACING = new Set(["for", "in", "of", "at"]);

/** What no rule places is for the one required value that is left in the end. */
function left(reading: Reading, at: number, said: string): Argument | null {
  const token = reading.tokens[at];
  const isOther = token?.kind === "email" || token?.kind === "url";
  if (!startsValue(reading, at) || isOther || !(PLACING.has(said) || isTyped(token))) return null;
  const first = readValue(reading, at, "name");
  if (!first) return null;
  const { values, next } =
    first.kind === "number" ? { values: [first], next: first.next } : listed(reading, first);
  // "for germans going": a participle shows that more is said than a value.
  const isOdd = values.some(({ text, kind }) => kind === "word" && / \p{Ll}+ing\b/u.test(text));
  return isOdd ? null : { next, pending: values };
}
