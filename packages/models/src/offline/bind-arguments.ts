import type { JsonValue } from "@planwright/plan";
import {
  CONNECTORS,
  CONTENT_NAMES,
  DETERMINERS,
  IDENTITY_NAMES,
  isMakingVerb,
  NAME_NAMES,
  PREPOSITIONS,
  PRONOUNS,
  QUERY_NAMES,
} from "./lexicon.ts";
import type { PlannedStep } from "./links.ts";
import { isContent, isFreeText, measureAt, type Parameter, valueFor } from "./parameter.ts";
import { isPlainLink, linkByName, readPreposition, startsValue } from "./prepositions.ts";
import {
  beginsPhrase,
  isSeparator,
  keywordAt,
  misread,
  modeFor,
  phraseAt,
  type Reading,
  type ReadValue,
  readValue,
  skipDeterminers,
  skipSeparators,
} from "./reading.ts";
import { spokenOf } from "./spoken-of.ts";
import type { Token } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";

/** What a clause gives one call. */
export interface BoundObject {
  values: Map<string, JsonValue>;
  /** The text that "about" brought: it also serves as title where one is required and none is given. */
  topic: string | null;
  /** What the sentence calls it, where it says so without a parameter's name. */
  name: string | null;
}

/** What the rules need beside the tokens. */
export interface BindInput {
  sentence: string;
  clause: string;
  words: ToolWords;
  /** What the tool does, as its name says. */
  verb: string;
  /** Tokens behind the head of the clause. */
  tokens: readonly Token[];
  steps: readonly PlannedStep[];
  /** Kinds of things that the catalogue has tools for. */
  things: ReadonlySet<string>;
  isPlural: boolean;
}

/**
 * Reads the arguments of a clause: one object for each call that it asks for, in the order of the sentence.
 * Every word is used or refused. @throws {NotUnderstoodError}
 */
export function bindArguments(input: BindInput): BoundObject[] {
  return new Binder(input).bind();
}

const newObject = (): BoundObject => ({ values: new Map(), topic: null, name: null });

/** Values for one parameter that ask for a call each: "for Tokyo, London and Paris". */
interface Spread {
  parameter: Parameter;
  values: JsonValue[];
}

class Binder {
  private readonly input: BindInput;
  private readonly reading: Reading;
  private readonly objects: BoundObject[] = [newObject()];
  private naming: Parameter | null = null;
  private spread: Spread | null = null;
  private at = 0;

  constructor(input: BindInput) {
    this.input = input;
    this.reading = {
      ...input,
      isSet: (parameter) => this.current().values.has(parameter.name) || this.spread?.parameter === parameter,
    };
  }

  bind(): BoundObject[] {
    let isSeparated = true;
    while (this.at < this.input.tokens.length) {
      const behind = skipSeparators(this.input.tokens, this.at);
      if (behind > this.at) {
        this.at = behind;
        isSeparated = true;
        continue;
      }
      this.argument(isSeparated);
      isSeparated = false;
    }
    return this.spreadOut();
  }

  private current(): BoundObject {
    return this.objects.at(-1) ?? newObject();
  }

  private argument(isSeparated: boolean): void {
    const start = this.at;
    const isRead =
      this.measured() ||
      this.phrase(isSeparated) ||
      this.keyword() ||
      this.preposition() ||
      this.filler() ||
      this.spoken() ||
      this.bare(isSeparated);
    if (!isRead || this.at === start)
      throw misread(this.reading, `it is open what "${this.rest()}" means there`);
  }

  /** The words that could not be placed, up to the next mark. */
  private rest(): string {
    const { tokens, sentence } = this.input;
    let end = this.at;
    while (end < tokens.length && (end === this.at || !isSeparator(tokens[end]))) end += 1;
    return sentence.slice(tokens[this.at]?.start, tokens[end - 1]?.end).slice(0, 80);
  }

  private set(parameter: Parameter, value: JsonValue): void {
    const { values } = this.current();
    if (this.reading.isSet(parameter)) throw misread(this.reading, `it gives "${parameter.name}" twice`);
    values.set(parameter.name, parameter.type === "array" && !Array.isArray(value) ? [value] : value);
  }

  private read(mode: "name" | "key" | "text", at: number): ReadValue | null {
    return readValue(this.reading, at, mode, (position) => isPlainLink(this.reading, position));
  }

  /** "... titled A about b and titled C": in the plural a second name begins the next object. */
  private isNextNamed(): boolean {
    const isNamed = this.naming !== null && this.current().values.has(this.naming.name);
    const isPhrase = beginsPhrase(this.input.tokens, this.at) && !phraseAt(this.reading, this.at);
    return this.input.isPlural && isNamed && isPhrase;
  }

  private phrase(isSeparated: boolean): boolean {
    if (isSeparated && this.isNextNamed()) this.objects.push(newObject());
    const phrase = phraseAt(this.reading, this.at);
    if (!phrase) return false;
    const { parameter, kind } = phrase;
    const start = phrase.next;
    const isText = isFreeText(parameter);
    const claimed = this.claim(parameter, () => this.read(isText ? "text" : "name", start));
    if (!claimed) return false;
    this.give(parameter, claimed);
    if (kind === "topic") this.current().topic = claimed.text;
    if (kind === "name" || kind === "title") this.naming ??= parameter;
    return true;
  }

  /** Reads with the parameter counted as set, so that its own words inside the value end nothing. */
  private claim(parameter: Parameter, read: () => ReadValue | null): ReadValue | null {
    const { values } = this.current();
    if (values.has(parameter.name)) return read();
    values.set(parameter.name, null);
    const value = read();
    values.delete(parameter.name);
    return value;
  }

  private give(parameter: Parameter, value: ReadValue): void {
    this.set(parameter, this.fit(parameter, value));
    this.at = value.next;
  }

  private fit(parameter: Parameter, value: ReadValue): JsonValue {
    if (parameter.link) return linkByName(this.reading, parameter, value).value;
    const given = valueFor(parameter, value.text, value.kind);
    if (given !== undefined) return given;
    throw misread(
      this.reading,
      `"${value.text}" cannot be the ${expected(parameter)} of "${parameter.name}"`,
    );
  }

  private keyword(): boolean {
    const connected = CONNECTORS.has(this.input.tokens[this.at]?.lower ?? "") ? this.at + 1 : this.at;
    const position = skipDeterminers(this.input.tokens, connected);
    const keyword = keywordAt(this.reading, position);
    if (!keyword || (this.isPreposition(position) && !keyword.isMarked)) return false;
    const { parameter, next } = keyword;
    const spoken = spokenOf(this.input, next);
    if (spoken && (parameter.link || isFreeText(parameter)) && this.takeSpoken(spoken, parameter))
      return true;
    if (parameter.type === "boolean") return this.flag(parameter, next);
    const value = this.claim(parameter, () => this.read(modeFor(parameter), next));
    if (!value) return false;
    this.give(parameter, value);
    if (parameter.type === "array") this.more(parameter);
    return true;
  }

  /** "to" names a parameter `to` as any preposition does, and may be followed by several values. */
  private isPreposition(position: number): boolean {
    return Object.hasOwn(PREPOSITIONS, this.input.tokens[position]?.lower ?? "");
  }

  /** "published", "published true": a flag without a value is meant as yes. */
  private flag(parameter: Parameter, next: number): boolean {
    const token = this.input.tokens[next];
    const value = token ? valueFor(parameter, token.text, token.kind) : undefined;
    this.set(parameter, value ?? true);
    this.at = value === undefined ? next : next + 1;
    return true;
  }

  private preposition(): boolean {
    const found = readPreposition(this.reading, this.at);
    if (!found) return false;
    this.at = found.next;
    if (found.type === "nothing") return true;
    this.set(found.parameter, found.value);
    if (found.parameter.type === "array") this.more(found.parameter);
    else if (!found.isLink) this.spreadOver(found.parameter, found.value);
    return true;
  }

  /** Further items of an array: "tags a, b and c". */
  private more(parameter: Parameter): void {
    for (let value = this.nextListed(); value; value = this.nextListed()) {
      const held = this.current().values.get(parameter.name);
      const item = this.fit(parameter, value);
      this.current().values.set(parameter.name, [...(Array.isArray(held) ? held : []), item]);
      this.at = value.next;
    }
  }

  private spreadOver(parameter: Parameter, first: JsonValue): void {
    const values = [first];
    for (let value = this.nextListed(); value; value = this.nextListed()) {
      const given = valueFor(parameter, value.text, value.kind);
      if (given === undefined) break;
      values.push(given);
      this.at = value.next;
    }
    if (values.length === 1) return;
    if (this.spread) throw misread(this.reading, "it lists values for two arguments at once");
    this.current().values.delete(parameter.name);
    this.spread = { parameter, values };
  }

  /** The value behind a separator, when one stands there and not another argument. */
  private nextListed(): ReadValue | null {
    const behind = skipSeparators(this.input.tokens, this.at);
    if (behind === this.at || !startsValue(this.reading, behind)) return null;
    const token = this.input.tokens[behind];
    if (!token || CONNECTORS.has(token.lower) || this.choiceOf(token) || this.measure(behind)) return null;
    return this.read("name", behind);
  }

  private filler(): boolean {
    const token = this.input.tokens[this.at];
    const next = this.input.tokens[this.at + 1];
    if (token?.kind !== "word") return false;
    if (token.lower === "for" && (next?.lower === "me" || next?.lower === "us")) this.at += 2;
    else if (token.lower === "please" || token.lower === "too") this.at += 1;
    else if (CONNECTORS.has(token.lower) && next && next.kind !== "word") this.at += 1;
    else if (DETERMINERS.has(token.lower) && next && !spokenOf(this.input, this.at)) this.at += 1;
    else return false;
    return true;
  }

  private spoken(): boolean {
    const spoken = spokenOf(this.input, this.at);
    return spoken !== null && this.takeSpoken(spoken, null);
  }

  /** Gives what earlier steps made: as ids to the parameters that point to it, as whole outputs to the one that takes text. */
  private takeSpoken(spoken: NonNullable<ReturnType<typeof spokenOf>>, wanted: Parameter | null): boolean {
    const open = wanted ? [wanted] : this.input.words.parameters.filter((each) => !this.reading.isSet(each));
    for (const parameter of open) {
      const ids = spoken.idsFor(parameter);
      const [only] = ids;
      if (only === undefined) continue;
      if (ids.length === 1 || parameter.type === "array")
        this.set(parameter, parameter.type === "array" ? ids : only);
      else this.spread = { parameter, values: ids };
      this.at = spoken.next;
      return true;
    }
    const taker = wanted ?? outputTaker(open);
    const value = taker && spoken.outputsFor(taker);
    if (!taker || value === null || value === undefined) return false;
    this.set(taker, value);
    this.at = spoken.next;
    return true;
  }

  /** A value without any word that says what it is for. */
  private bare(isSeparated: boolean): boolean {
    const token = this.input.tokens[this.at];
    if (!token) return false;
    const isIdentity = token.kind === "number" && !isMakingVerb(this.input.verb);
    if (this.choice(token) || (isIdentity && this.named(isSeparated))) return true;
    return this.typed(token) || this.named(isSeparated);
  }

  private choiceOf(token: Token): Parameter | null {
    const fits = this.input.words.parameters.filter(
      (each) => each.choices && !this.reading.isSet(each) && valueFor(each, token.text) !== undefined,
    );
    return fits.length === 1 ? (fits[0] ?? null) : null;
  }

  private measure(at: number) {
    const found = measureAt(this.input.words.parameters, this.input.tokens, at);
    return found && !this.reading.isSet(found.parameter) ? found : null;
  }

  /** "in 30 minutes", "for 3 days", "3 days". */
  private measured(): boolean {
    const found = this.measure(this.isPreposition(this.at) ? this.at + 1 : this.at);
    if (!found) return false;
    this.set(found.parameter, found.value);
    this.at = found.next;
    return true;
  }

  /** "high priority": a value of the one list of choices that holds it. */
  private choice(token: Token): boolean {
    const parameter = this.choiceOf(token);
    if (!parameter) return false;
    this.set(parameter, valueFor(parameter, token.text) ?? null);
    this.at += 1;
    const next = this.input.tokens[this.at]?.lower;
    if (next !== undefined && parameter.words.includes(next) && !keywordAt(this.reading, this.at))
      this.at += 1;
    return true;
  }

  /** An e-mail address, a link or a number fills the one open parameter of its shape. */
  private typed(token: Token): boolean {
    if (token.kind === "word" || token.kind === "quoted") return false;
    const hasShape = (each: Parameter) =>
      token.kind === "number" ? each.type === "number" || each.type === "integer" : each.shape === token.kind;
    const shaped = this.input.words.parameters.filter(hasShape);
    const fits = shaped.length === 1 ? shaped : shaped.filter((each) => each.required);
    const parameter = fits.length === 1 ? fits[0] : undefined;
    if (!parameter || this.reading.isSet(parameter)) return false;
    this.set(parameter, valueFor(parameter, token.text, token.kind) ?? null);
    this.at += 1;
    if (["of", "x"].includes(this.input.tokens[this.at]?.lower ?? "")) this.at += 1;
    return true;
  }

  /** What the thing is called, or which one is meant. Behind a separator it begins the next object. */
  private named(isSeparated: boolean): boolean {
    const token = this.input.tokens[this.at];
    if (!isSeparated || !startsValue(this.reading, this.at)) return false;
    if (token?.kind === "word" && PRONOUNS.has(token.lower)) return false;
    const isNext = this.naming !== null && this.current().values.has(this.naming.name);
    if (isNext) this.objects.push(newObject());
    const parameter = isNext ? this.naming : this.namingParameter();
    if (!parameter) return false;
    const value = this.claim(parameter, () => this.read(this.bareMode(parameter), this.at));
    if (!value) return false;
    this.naming = parameter;
    this.current().name = value.text;
    this.give(parameter, value);
    return true;
  }

  private bareMode(parameter: Parameter): "name" | "text" {
    return isFreeText(parameter) && this.isOnlyGap(parameter) && !this.input.isPlural ? "text" : "name";
  }

  private isOnlyGap(parameter: Parameter): boolean {
    const gaps = this.input.words.parameters.filter((each) => each.required && each.link === null);
    return gaps.length === 1 && gaps[0] === parameter;
  }

  private namingParameter(): Parameter | null {
    const { words, verb } = this.input;
    const names = isMakingVerb(verb) ? NAME_NAMES : [...IDENTITY_NAMES, ...QUERY_NAMES];
    const open = words.parameters.filter((each) => !this.reading.isSet(each) && each.type !== "boolean");
    const value = this.read("name", this.at);
    if (!value) return null;
    const isFitting = (each: Parameter) =>
      each.link !== null || valueFor(each, value.text, value.kind) !== undefined;
    const isOwn = (each: Parameter) =>
      each.link === null || each.link.thing.split(" ").at(-1) === words.thing;
    for (const name of [...names, words.thing ?? "", ...(value.kind === "quoted" ? CONTENT_NAMES : [])]) {
      const found = open.find((each) => each.words.at(-1) === name && isFitting(each) && isOwn(each));
      if (found) return found;
    }
    const gaps = open.filter((each) => each.required && each.link === null);
    return gaps.length === 1 && gaps[0] && isFitting(gaps[0]) ? gaps[0] : null;
  }

  private spreadOut(): BoundObject[] {
    const { spread } = this;
    if (!spread) return this.objects;
    return this.objects.flatMap((object) =>
      spread.values.map((value) => ({
        ...object,
        values: new Map(object.values).set(spread.parameter.name, value),
      })),
    );
  }
}

/** The parameter that whole outputs of earlier steps go to: a list, or the one text that is required. */
function outputTaker(open: readonly Parameter[]): Parameter | null {
  const takers = open.filter(
    (each) => each.required && (isFreeText(each) || (each.type === "array" && !each.link)),
  );
  const fits = takers.length === 1 ? takers : takers.filter(isContent);
  return fits.length === 1 ? (fits[0] ?? null) : null;
}

function expected(parameter: Parameter): string {
  if (parameter.choices) return `value (one of ${parameter.choices.slice(0, 10).map(String).join(", ")})`;
  return parameter.shape ?? (parameter.type === "string" ? "value" : parameter.type);
}
