import type { Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { isSeparator, skipSeparators } from "../text/separators.ts";
import type { Argument, Rule } from "../values/argument.ts";
import { type BoundObject, hasParameter, newObject, share } from "../values/bound-object.ts";
import { choice } from "../values/choices.ts";
import { dated } from "../values/dated.ts";
import { beginsPhrase, phraseAt } from "../values/phrases.ts";
import { pointing } from "../values/pointing.ts";
import { misread, type Reading } from "../values/reading.ts";
import { keyword } from "./keyed.ts";
import { announced, collective, filler, flagged, measured, phrase, purpose, typed, unit } from "./loose.ts";
import { named } from "./naming.ts";
import { placePending } from "./pending.ts";
import { preposition } from "./prepositions.ts";

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
