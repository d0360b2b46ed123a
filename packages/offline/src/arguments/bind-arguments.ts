import {
  isContent,
  isFreeText,
  isLongText,
  isNumeric,
  type Parameter,
  PREPOSITIONS,
  stem,
  TITLE_NAMES,
} from "@planwright/models/words";
import { escapeText, type JsonValue } from "@planwright/plan";
import { saysAt } from "../clauses/heads.ts";
import { antecedentAt } from "../links/antecedents.ts";
import { stepsNamed } from "../links/links.ts";
import { CONNECTORS, COURTESIES, DETERMINERS, ORDINALS } from "../text/lexicon.ts";
import { isSeparator, skipSeparators } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { isIdentifier, measureAt, valueFor } from "../text/value-for.ts";
import type { Argument, Rule } from "../values/argument.ts";
import { type BoundObject, hasParameter, newObject, share } from "../values/bound-object.ts";
import { choice } from "../values/choices.ts";
import { dated } from "../values/dated.ts";
import { keywordAt } from "../values/keywords.ts";
import { give } from "../values/link-values.ts";
import { beginsPhrase, phraseAt } from "../values/phrases.ts";
import { pointing } from "../values/pointing.ts";
import { readValue } from "../values/read-value.ts";
import { misread, openParameters, type Reading } from "../values/reading.ts";
import { keyword, readAs } from "./keyed.ts";
import { giveAll, startsValue } from "./lists.ts";
import { named } from "./naming.ts";
import { preposition } from "./prepositions.ts";

/** "in 30 minutes", "for the next 3 days", "two guests". */
function measured(reading: Reading, at: number): Argument | null {
  const isBehind = PREPOSITIONS.has(reading.tokens[at]?.lower ?? "");
  let start = isBehind ? at + 1 : at;
  while (isBehind && ["the", "a", "next", "last", "past"].includes(reading.tokens[start]?.lower ?? ""))
    start += 1;
  const found = measureAt(openParameters(reading), reading.tokens, start);
  if (!found) return null;
  return {
    next: found.next,
    gives: [{ parameter: found.parameter, value: found.value }],
    isTyped: true,
  };
}

/** "titled Hello", "about code", "saying Well done", "because it is late". */
function phrase(reading: Reading, at: number): Argument | null {
  const found = phraseAt(reading, at);
  if (!found) return null;
  const { parameter, kind, next } = found;
  const isNaming = kind === "name" || kind === "title";
  const value = isFreeText(parameter)
    ? readAs(reading, parameter, next, isNaming ? "title" : "text")
    : readAs(reading, parameter, next);
  if (!value) return null;
  const given = { ...give(reading, parameter, value), next: value.next };
  if (kind === "topic") return { ...given, topic: value.text };
  return isNaming ? { ...given, named: { parameter, text: value.text } } : given;
}

/**
 * "a task to call Bob": the words after "to" say what a thing is made for. They are its text or title, when
 * no parameter takes another value after "to".
 */
function purpose(reading: Reading, at: number): Argument | null {
  const { words, tokens } = reading;
  if (at !== 0 || tokens[0]?.lower !== "to" || !words.isMaking || !isPlainWord(tokens[1])) return null;
  const names = PREPOSITIONS.get("to") ?? [];
  const isTaken = words.parameters.some(
    (each) => (each.link !== null && each.required) || each.words.some((word) => names.includes(word)),
  );
  if (isTaken || stepsNamed(reading.steps, tokens[1]?.text ?? "").length > 0) return null;
  const open = openParameters(reading).filter((each) => each.required && isLongText(each));
  const [only, second] = open;
  const value =
    only && second === undefined ? readAs(reading, only, 1, isContent(only) ? "text" : "title") : null;
  return only && value ? { ...give(reading, only, value), next: value.next } : null;
}

const isPlainWord = (token: Token | undefined) =>
  token?.kind === "word" && /^\p{Ll}+$/u.test(token.text) && !DETERMINERS.has(token.lower);

/**
 * "add a note to deal 5: call them back": the words after a colon are the only required text that has no
 * value yet.
 */
function announced(reading: Reading, at: number): Argument | null {
  if (reading.tokens[at]?.kind !== "mark" || reading.tokens[at]?.text !== ":") return null;
  if (at === 0 || !startsValue(reading, at + 1)) return null;
  const [only, second] = openParameters(reading).filter((each) => each.required && isContent(each));
  const value = only && second === undefined ? readAs(reading, only, at + 1, "text") : null;
  return only && value ? { ...give(reading, only, value), next: value.next } : null;
}

/** "250 usd": the unit after a number, for the one parameter whose name means a unit. */
function unit(reading: Reading, at: number): Argument | null {
  const [number, token] = [reading.tokens[at - 1], reading.tokens[at]];
  if (number?.kind !== "number" || token?.kind !== "word" || !startsValue(reading, at)) return null;
  const units = openParameters(reading).filter(
    (each) => isFreeText(each) && each.words.some((word) => UNIT_WORDS.has(stem(word))),
  );
  const required = units.filter((each) => each.required);
  const [only, second] = required.length > 0 ? required : units;
  if (!only) return null;
  if (second === undefined)
    return { next: at + 1, gives: [{ parameter: only, value: escapeText(token.text) }] };
  return { next: at + 1, pending: [{ text: token.text, kind: "word" }] };
}

const UNIT_WORDS = new Set(["unit", "currency", "measure"]);

/** Words that are no part of an argument: words of courtesy, and determiners before an argument. */
function filler(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  const next = reading.tokens[at + 1];
  if (token?.kind !== "word") return null;
  const courtesy = COURTESIES.find((words) => saysAt(reading.tokens, at, words));
  if (courtesy) return { next: at + courtesy.length };
  if (CONNECTORS.has(token.lower) && next && next.kind !== "word") return { next: at + 1 };
  const isDeterminer = DETERMINERS.has(token.lower) && !["all", "any"].includes(token.lower);
  const isPointing = antecedentAt(reading, at) !== null || ORDINALS.has(next?.lower ?? "");
  return isDeterminer && next && !isPointing ? { next: at + 1 } : null;
}

/** "..., both in department Ops": the words that follow are for all objects named so far. */
function collective(reading: Reading, at: number, isSeparated: boolean): Argument | null {
  const [token, next] = [reading.tokens[at], reading.tokens[at + 1]];
  if (!isSeparated || !reading.isPlural || !["both", "all", "each"].includes(token?.lower ?? "")) return null;
  const isArgument = next?.kind === "word" && (PREPOSITIONS.has(next.lower) || CONNECTORS.has(next.lower));
  return isArgument || keywordAt(reading, at + 1) !== null ? { next: at + 1, isForAll: true } : null;
}

/** "dark-mode on": the value of a flag, when only one open parameter is a flag. */
function flagged(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (!token || token.kind === "quoted") return null;
  const behind = reading.tokens[at + 1];
  const isAlone = behind === undefined || isSeparator(behind) || PREPOSITIONS.has(behind.lower);
  const [only, second] = openParameters(reading).filter((each) => each.type === "boolean");
  const value = only && second === undefined && isAlone ? valueFor(only, token.text) : undefined;
  return only && value !== undefined ? { next: at + 1, gives: [{ parameter: only, value }] } : null;
}

/** An e-mail address, a link or a number is for the only parameter of its shape, if it is open. */
function typed(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (!token || token.kind === "word" || token.kind === "quoted" || token.kind === "mark") return null;
  const hasShape = (each: Parameter) =>
    token.kind === "number"
      ? (each.type === "number" || each.type === "integer") && each.link === null
      : (each.shape ?? each.item?.shape) === token.kind;
  const shaped = reading.words.parameters.filter(hasShape);
  const fits = shaped.length === 1 ? shaped : shaped.filter((each) => each.required);
  const [parameter, second] = fits;
  if (!parameter || second !== undefined || reading.isSet(parameter)) return null;
  const value = readValue(reading, at, "name");
  if (!value || valueFor(parameter, token.text, token.kind) === undefined) return null;
  const given = giveAll(reading, parameter, value);
  const isCount = ["of", "x"].includes(reading.tokens[given.next]?.lower ?? "");
  return { ...given, next: isCount ? given.next + 1 : given.next, isTyped: true };
}

/** What the rules need to know about a clause. */
export type BindInput = Omit<Reading, "isSet" | "naming">;

/** A number is read as an id before it is read as a count, unless the tool makes something new. */
const identity: Rule = (reading, at, isSeparated) =>
  reading.tokens[at]?.kind === "number" && !reading.words.isMaking ? named(reading, at, isSeparated) : null;

/** All rules that read the words at a position, the simplest rule first. */
const RULES: readonly Rule[] = [
  collective,
  purpose,
  measured,
  unit,
  phrase,
  keyword,
  dated,
  preposition,
  filler,
  pointing,
  choice,
  flagged,
  identity,
  typed,
  named,
];

/**
 * Reads the arguments of a clause: one object for each call that it asks for, in the order of the sentence.
 * Every word is used or refused. @throws {NotUnderstoodError}
 */
export function bindArguments(input: BindInput): BoundObject[] {
  return new Binder(input).bind();
}

class Binder {
  private readonly input: BindInput;
  private readonly reading: Reading;
  private objects: BoundObject[] = [newObject()];
  private naming: Parameter | null = null;
  private spread: { parameter: Parameter; values: readonly JsonValue[] } | null = null;
  /** Values given before the first name are for every object: "high priority issues A and B". */
  private common: ReadonlyMap<string, JsonValue> = new Map();
  private isForAll = false;
  private at = 0;

  constructor(input: BindInput) {
    this.input = input;
    this.reading = {
      ...input,
      isSet: (parameter) => hasParameter(this.current(), parameter) || this.spread?.parameter === parameter,
      naming: () =>
        this.naming !== null && this.current().values.has(this.naming.name) ? this.naming : null,
    };
  }

  bind(): BoundObject[] {
    let isSeparated = true;
    while (this.at < this.input.tokens.length) {
      const said = announced(this.reading, this.at);
      const behind = skipSeparators(this.input.tokens, this.at);
      if (said) this.take(said);
      else if (behind > this.at) {
        this.at = behind;
        isSeparated = true;
        continue;
      }
      if (said) continue;
      this.argument(isSeparated);
      isSeparated = false;
    }
    const shared = share(this.objects, {
      naming: this.naming,
      common: this.common,
      parameters: this.input.words.parameters,
    });
    return placePending(this.reading, this.spreadOut(shared));
  }

  private current(): BoundObject {
    return this.objects.at(-1) ?? newObject();
  }

  private argument(isSeparated: boolean): void {
    if (isSeparated && this.isNextNamed()) this.objects.push(newObject(this.common));
    for (const rule of RULES) {
      const found = rule(this.reading, this.at, isSeparated);
      if (!found || found.next <= this.at) continue;
      this.take(found);
      return;
    }
    throw misread(this.reading, `it is open what "${this.rest()}" means there`);
  }

  /** The words that no rule could read, up to the next mark. */
  private rest(): string {
    const { tokens, sentence } = this.input;
    let end = this.at;
    while (end < tokens.length && (end === this.at || !isSeparator(tokens[end]))) end += 1;
    return sentence.slice(tokens[this.at]?.start, tokens[end - 1]?.end).slice(0, 80);
  }

  /** "... titled A about b and titled C": when the noun is plural, a second name begins the next object. */
  private isNextNamed(): boolean {
    const isPhrase = beginsPhrase(this.input.tokens, this.at) && !phraseAt(this.reading, this.at);
    return this.input.isPlural && this.reading.naming() !== null && isPhrase;
  }

  private take(found: Argument): void {
    if (found.named) {
      if (this.naming === null) this.common = new Map(this.current().values);
      if (this.reading.naming() === found.named.parameter) this.objects.push(newObject(this.common));
      this.naming ??= found.named.parameter;
      this.current().name ??= found.named.text;
    }
    for (const { parameter, value } of found.gives ?? []) this.set(parameter, value);
    if (found.unusable) this.current().unusable.set(found.unusable.parameter.name, found.unusable.said);
    this.isForAll ||= found.isForAll === true;
    if (found.spread) this.spreadOver(found.spread);
    if (found.pending) this.current().pending.push(found.pending);
    this.current().bareText ??= found.bareText ?? null;
    this.current().topic ??= found.topic ?? null;
    this.current().isTyped ||= found.isTyped === true;
    this.at = found.next;
  }

  private set(parameter: Parameter, value: JsonValue): void {
    const objects = this.isForAll ? this.objects : [this.current()];
    if (this.spread?.parameter === parameter || objects.some((object) => hasParameter(object, parameter)))
      throw misread(this.reading, `it gives "${parameter.name}" twice`);
    const isWhole = parameter.type !== "array" || Array.isArray(value) || isListReference(value);
    for (const object of objects) object.values.set(parameter.name, isWhole ? value : [value]);
  }

  private spreadOver(spread: { parameter: Parameter; values: readonly JsonValue[] }): void {
    if (this.spread) throw misread(this.reading, "it lists values for two arguments at once");
    if (this.reading.isSet(spread.parameter))
      throw misread(this.reading, `it gives "${spread.parameter.name}" twice`);
    this.spread = spread;
  }

  private spreadOut(objects: readonly BoundObject[]): BoundObject[] {
    const { spread } = this;
    if (!spread) return [...objects];
    return objects.flatMap((object) =>
      spread.values.map((value) => ({
        ...object,
        values: new Map(object.values).set(spread.parameter.name, value),
      })),
    );
  }
}

/** A reference to all items of a list is already a list. */
const isListReference = (value: JsonValue) =>
  typeof value === "string" && /^<<[^<>]*\[\*\][^<>]*>>$/.test(value);

type Pending = NonNullable<Argument["pending"]>;

/**
 * Gives values that no rule could place to the one required parameter without a value, in every object.
 * @throws {NotUnderstoodError} when no parameter or several parameters could take a value
 */
function placePending(reading: Reading, objects: readonly BoundObject[]): BoundObject[] {
  return objects.flatMap((object) => {
    let placed = [object];
    for (const pending of object.pending) placed = placed.flatMap((each) => place(reading, each, pending));
    return placed;
  });
}

function place(reading: Reading, object: BoundObject, pending: Pending): BoundObject[] {
  const { parameters } = reading.words;
  const open = parameters.filter((each) => !hasParameter(object, each));
  const required = open.filter((each) => each.required && takes(each, pending, reading));
  const numeric = required.filter(isNumeric);
  const [parameter, second] = numeric.length === 1 ? numeric : required;
  const said = pending.map(({ text }) => text).join(", ");
  if (!parameter || second !== undefined) throw misread(reading, `it is open what "${said}" means there`);
  const values = pending.map(({ text, kind }) => valueFor(parameter, text, kind) ?? null);
  if (parameter.type === "array") return [withValue(object, parameter, values)];
  return values.map((value) => withValue(object, parameter, value));
}

const withValue = (object: BoundObject, { name }: Parameter, value: JsonValue): BoundObject => ({
  ...object,
  values: new Map(object.values).set(name, value),
});

/**
 * A preposition alone never brings a title or a text. It can bring the name of a person with a role ("for Ken
 * Adams" is `passenger_name`).
 */
function takes(parameter: Parameter, pending: Pending, { words }: Reading): boolean {
  if (isContent(parameter) || isOwnName(parameter, words.thing)) return false;
  return pending.every(
    ({ text, kind }) =>
      valueFor(parameter, text, kind) !== undefined && (parameter.link === null || isIdentifier(text)),
  );
}

const isOwnName = ({ words }: Parameter, thing: string | null) =>
  TITLE_NAMES.includes(words.at(-1) ?? "") && (words.length === 1 || words[0] === thing);
