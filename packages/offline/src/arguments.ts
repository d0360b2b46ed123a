import {
  CONTENT_NAMES,
  IDENTITY_NAMES,
  isContent,
  isDated,
  isFreeText,
  isLongText,
  isNumeric,
  linkedNoun,
  NAME_NAMES,
  type Parameter,
  PREPOSITIONS,
  QUERY_NAMES,
  stem,
  TITLE_NAMES,
  type ToolWords,
} from "@planwright/models/words";
import { beginningOfText, type JsonValue } from "@planwright/plan";
import type { SaidMoment } from "@planwright/reading";
import {
  identityOf,
  idsOf,
  linkByThing,
  linkTo,
  linkToThingOf,
  namedThing,
  outputsFor,
  type PlannedStep,
  type Pointed,
  pointedAt,
  stepsNamed,
} from "./links.ts";
import { isDeterminer, PRONOUNS, type ToolMatch } from "./match-tool.ts";
import type { Token } from "./tokens.ts";
import { expected, isIdentifier, isPathName, isTyped, valueFor } from "./values.ts";

/** Words of a clause that the grammar does not allow; the message says which and what to do. */
export class Misread extends Error {}

/** The values that a clause gives for one call. */
export interface DraftedCall {
  values: Map<string, JsonValue>;
  /** By parameter: words of the sentence that cannot be its value. They become a question. */
  unusable: Map<string, string>;
  /** The text after "about": it is also the title when a title is required and none is given. */
  topic: string | null;
  /** The name of the thing in the sentence. */
  name: string | null;
}

/** A clause, and what is known where it stands. */
interface ClauseInput {
  sentence: string;
  tokens: readonly Token[];
  match: ToolMatch;
  /** The position behind the clause. */
  end: number;
  steps: readonly PlannedStep[];
  /** What words such as "tomorrow" mean; without readings when the current time is unknown. */
  moments: readonly SaidMoment[];
  /** The kinds of things of the catalogue, stemmed. */
  things: ReadonlySet<string>;
}

type Kind = "title" | "name" | "content" | "topic";

const INTRODUCERS: ReadonlyMap<string, Kind> = new Map([
  ["titled", "title"],
  ["named", "name"],
  ["called", "name"],
  ["saying", "content"],
  ["about", "topic"],
]);
const set = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Words that are no names: they need a model, or mean something that the sentence does not say. */
const NO_NAMES = set(
  "all every each everything everyone everybody anything anyone anybody nothing nobody none something someone any either neither me myself us you i we not no or but nor if unless except until while when whenever than like now later again tomorrow today yesterday tonight my our your his her their its a an some another then with and",
);
/** Words that make a condition or a choice of a text; no plan can hold them. */
const CONDITIONS = set("if unless except otherwise until while when whenever once instead or but");

/** Words of a name that its last word does not imply: a price is no highest price. */
const LIMITING = set("max min maximum minimum highest lowest least most not exclude excluded without");

/** Prepositions of days that begin or end a time. */
const BOUNDARIES = set("from since between until till through by");
/** Words of arguments for the day by which something is done. */
const ENDS = set("due deadline end until");
const isEnd = ({ words }: Parameter) => words.some((word) => ENDS.has(word));

/** Words that mean a part of an earlier thing, which no reference can name. */
const POSSESSIVES = set("its their his her my your our");

const QUOTE = "put a text of several words in quotes";

/** True for `,` and "and" between arguments. */
export const isSeparator = (token: Token | undefined) =>
  token !== undefined &&
  ((token.kind === "mark" && token.text === ",") ||
    (token.kind === "word" && (token.lower === "and" || token.lower === "&")));

/**
 * The parameter whose name is at a position, and the position of its value: "with folder id f1", "email:
 * a@b.test". The complete name, or its last word or the kind of thing when only one parameter has it.
 */
export function keyAt(
  tokens: readonly Token[],
  at: number,
  parameters: readonly Parameter[],
): { parameter: Parameter; next: number } | null {
  const said: string[] = [];
  for (let index = at; tokens[index]?.kind === "word" && said.length < 6; index++)
    said.push(stem(tokens[index]?.lower ?? ""));
  const complete = parameters
    .filter(({ words }) => words.length > 0 && words.every((word, index) => said[index] === stem(word)))
    .toSorted((left, right) => right.words.length - left.words.length)[0];
  const plain = parameters.filter(({ name }) => name.toLowerCase() === tokens[at]?.lower);
  const short = parameters.filter(
    (each) =>
      (stem(each.words.at(-1) ?? "") === said[0] || linkedNoun(each) === said[0]) &&
      !each.words.slice(0, -1).some((word) => LIMITING.has(word)),
  );
  const parameter = complete ?? plain[0] ?? (short.length === 1 ? short[0] : undefined);
  if (!parameter || said.length === 0) return null;
  const behind = at + (complete ? complete.words.length : 1);
  const mark = tokens[behind];
  return { parameter, next: mark?.kind === "mark" && [":", "="].includes(mark.text) ? behind + 1 : behind };
}

/**
 * Reads the arguments of a clause: one call for each thing that it names. Every word is used or refused.
 * @throws {Misread}
 */
export function readArguments(input: ClauseInput): DraftedCall[] {
  return new ClauseReader(input).read();
}

const newCall = (): DraftedCall => ({ values: new Map(), unusable: new Map(), topic: null, name: null });

/** A value of the sentence: text that may be the value, or the steps that the words mean. */
type Said = { text: string; kind: Token["kind"]; next: number };

class ClauseReader {
  private readonly input: ClauseInput;
  private readonly tokens: readonly Token[];
  private readonly words: ToolWords;
  private readonly calls: DraftedCall[] = [newCall()];
  private naming: Parameter | null = null;
  private spread: { parameter: Parameter; values: JsonValue[] } | null = null;

  constructor(input: ClauseInput) {
    this.input = input;
    this.tokens = input.tokens.slice(0, input.end);
    this.words = input.match.words;
  }

  read(): DraftedCall[] {
    let at = this.input.match.next;
    let isFresh = true;
    while (at < this.tokens.length) {
      if (isSeparator(this.tokens[at])) {
        at += 1;
        isFresh = true;
        if (at === this.tokens.length) this.fail(at - 1);
        continue;
      }
      const next = this.argument(at, isFresh);
      if (next === null || next <= at) this.fail(at);
      at = next;
      isFresh = false;
    }
    const calls = this.spreadOut(this.share());
    if (this.input.match.isPlural && calls.length === 1 && !this.words.isListing && !this.isList())
      throw new Misread("it asks for several things and names one");
    return calls;
  }

  /** True when one call has a list of values, or references to several things. */
  private isList = () => [...this.current().values.values()].some((value) => Array.isArray(value));

  private argument(at: number, isFresh: boolean): number | null {
    const token = this.tokens[at];
    if (token?.kind === "word") {
      const kind = INTRODUCERS.get(token.lower);
      if (kind) return this.introduced(at, kind);
      if (token.lower === "with") return this.keyed(at + 1);
      const isKey = this.isMarked(at) || (isFresh && !PREPOSITIONS.has(token.lower));
      const key = isKey ? this.keyed(at) : null;
      if (key !== null) return key;
    }
    const moment = this.moment(at);
    if (moment !== null) return moment;
    if (token?.kind === "word" && PREPOSITIONS.has(token.lower)) return this.placed(at);
    const isName =
      at === this.input.match.next || (isFresh && this.naming !== null && this.input.match.isPlural);
    return this.pointed(at) ?? (isName ? this.named(at) : null);
  }

  /** True before "name:" and "name=", which begin an argument anywhere. */
  private isMarked(at: number): boolean {
    const mark = this.tokens[at + 1];
    return mark?.kind === "mark" && (mark.text === ":" || mark.text === "=");
  }

  /** "titled Hello", "about world", "saying Great post". */
  private introduced(at: number, kind: Kind): number {
    const parameter = this.introducedBy(kind, at);
    const said = this.tokens[at]?.text ?? "";
    if (!parameter) throw new Misread(`${this.words.tool.name} has no open argument for "${said}"`);
    if (kind === "name") this.startCall(parameter);
    const value = kind === "name" ? this.name(at + 1) : this.text(at + 1, parameter);
    if (!value) throw new Misread(`no value follows "${said}"`);
    this.give(parameter, value);
    if (kind === "topic") this.current().topic = value.text;
    if (kind === "name" || kind === "title") this.current().name ??= value.text;
    return value.next;
  }

  private introducedBy(kind: Kind, at: number): Parameter | null {
    const open = this.open().filter((each) => each.type === "string" && each.link === null);
    const first = (names: readonly string[], isWanted: (each: Parameter) => boolean = () => true) =>
      names.flatMap((name) => open.filter((each) => each.words.at(-1) === name && isWanted(each)))[0] ?? null;
    const isRequired = (each: Parameter) => each.required;
    const content = () => first(CONTENT_NAMES, isRequired) ?? first(CONTENT_NAMES);
    switch (kind) {
      case "title":
        return first(TITLE_NAMES);
      case "name":
        return (
          first(NAME_NAMES, isRequired) ??
          first(NAME_NAMES) ??
          open.find((each) => each.required && /.name$/.test(each.words.at(-1) ?? "")) ??
          null
        );
      case "content":
        return content();
      case "topic": {
        const saying = this.tokens.some(
          (token, index) => index > at && token.kind === "word" && token.lower === "saying",
        );
        return (
          (saying ? first(TITLE_NAMES) : null) ??
          first(CONTENT_NAMES, isRequired) ??
          first(["topic", ...QUERY_NAMES]) ??
          content() ??
          first(TITLE_NAMES)
        );
      }
    }
  }

  /** "with email a@b.test", "and price 5", "title: Hello"; null when no parameter's name is there. */
  private keyed(at: number): number | null {
    const found = keyAt(this.tokens, at, this.words.parameters);
    if (!found) return null;
    const { parameter, next } = found;
    const pointed = this.pointTo(parameter, next);
    if (pointed !== null) return pointed;
    if (this.tokens[next] === undefined) throw new Misread(`no value follows "${parameter.name}"`);
    const value = this.valueAt(parameter, next);
    if (!value || parameter.type === "array") return value && this.giveAll(parameter, value);
    this.give(parameter, value);
    return value.next;
  }

  /** A value of the form that a parameter takes. */
  private valueAt(parameter: Parameter, at: number): Said | null {
    const moment = isDated(parameter) ? this.momentAt(at) : null;
    if (moment?.isRange) throw new Misread(`"${moment.text}" is more than one day`);
    if (moment) return { text: moment.value ?? moment.text, kind: "word", next: moment.next };
    if (parameter.choices) {
      for (const length of [3, 2]) {
        const text = this.tokens
          .slice(at, at + length)
          .map((token) => token.text)
          .join(" ");
        if (valueFor(parameter, text) !== undefined) return { text, kind: "word", next: at + length };
      }
    }
    return isLongText(parameter) && !(parameter.words.at(-1) === "name")
      ? this.text(at, parameter)
      : this.name(at);
  }

  /** "on that blog", "by Alice", "for Tokyo, London and Paris", "on blog 12". */
  private placed(at: number): number | null {
    const preposition = this.tokens[at]?.lower ?? "";
    const start = at + 1;
    const target = this.targetOf(preposition);
    const pointed = pointedAt(this.tokens, start, this.input.steps);
    if (pointed) {
      const takers = [
        ...(target ? [target] : []),
        ...this.open().toSorted((a, b) => Number(b.required) - Number(a.required)),
      ];
      for (const parameter of takers) {
        const next = this.givePointed(parameter, pointed, false);
        if (next !== null) return next;
      }
    }
    const isArticle = isDeterminer(this.tokens[start]);
    const key = keyAt(this.tokens, isArticle ? start + 1 : start, this.open());
    if (key && (isTyped(this.tokens[key.next]) || this.name(key.next) !== null)) {
      const value = this.valueAt(key.parameter, key.next);
      return value && this.giveAll(key.parameter, value);
    }
    if (key && isArticle && this.ends(key.next)) {
      const { parameter, next } = key;
      this.unusable(parameter, this.saidOf(start, next));
      return next;
    }
    const value = target && isLongText(target) ? this.text(start, target) : this.name(start);
    if (!value) return null;
    const parameter = this.takerOf(value, target);
    return parameter && this.giveAll(parameter, value);
  }

  private takerOf(value: Said, target: Parameter | null): Parameter | null {
    if (target && (this.fits(target, value) || target.link !== null || isAddress(target))) return target;
    const chosen = this.open().filter((each) => each.choices !== null && this.fits(each, value));
    if (chosen.length === 1) return chosen[0] ?? null;
    const linked = this.open().filter((each) => this.reach(each, value.text).length > 0);
    if (linked.length === 1) return linked[0] ?? null;
    const gaps = this.open().filter(
      (each) => each.required && !isLongText(each) && !isNumeric(each) && this.fits(each, value),
    );
    return linked.length === 0 && gaps.length === 1 ? (gaps[0] ?? null) : null;
  }

  /** The open parameter that a preposition names: "by" an author, "to" a recipient. */
  private targetOf(preposition: string): Parameter | null {
    const names = PREPOSITIONS.get(preposition) ?? [];
    for (const name of names) {
      const found = this.open().filter(
        (each) => each.type !== "boolean" && each.words.some((word) => word === name),
      );
      const required = found.filter((each) => each.required);
      if (found.length === 1 || required.length === 1)
        return (found.length === 1 ? found : required)[0] ?? null;
      if (found.length > 1) return null;
    }
    return null;
  }

  /** "it", "them", "the results", without a word before them. */
  private pointed(at: number): number | null {
    const pointed = pointedAt(this.tokens, at, this.input.steps);
    if (!pointed) return null;
    const open = this.open();
    for (const parameter of open.filter((each) => each.required)) {
      const next = this.givePointed(parameter, pointed, false);
      if (next !== null) return next;
    }
    const takers = open.filter((each) => each.required && isFreeText(each) && !isPathName(each));
    const contents = takers.length === 1 ? takers : takers.filter(isContent);
    const [taker, second] = contents;
    return taker && !second ? this.givePointed(taker, pointed, true) : null;
  }

  private pointTo(parameter: Parameter, at: number): number | null {
    const pointed = pointedAt(this.tokens, at, this.input.steps);
    if (!pointed || (pointed.isPronoun && !this.ends(pointed.next))) return null;
    return this.givePointed(parameter, pointed, true);
  }

  private givePointed(parameter: Parameter, pointed: Pointed, takesOutputs: boolean): number | null {
    const ids = idsOf(parameter, pointed, this.input.steps);
    const [only, second] = ids;
    if (only === undefined) {
      const outputs = takesOutputs ? outputsFor(parameter, pointed.steps, null) : null;
      if (outputs === null) return null;
      this.set(parameter, outputs);
    } else if (parameter.type === "array") this.set(parameter, ids);
    else if (second === undefined) this.set(parameter, only);
    else if (pointed.isMany) this.spreadOver(parameter, ids);
    else if (pointed.isPronoun) throw new Misread(`"${pointed.said}" could mean several things; say a name`);
    else this.unusable(parameter, pointed.said);
    return pointed.next;
  }

  /** A day or a moment for the only parameter that takes one: "tomorrow at 9", "on 2026-12-01". */
  private moment(at: number): number | null {
    const token = this.tokens[at];
    const isBehind = token?.kind === "word" && PREPOSITIONS.has(token.lower) && !this.said(at);
    const start = isBehind ? at + 1 : at;
    const found = this.momentAt(start);
    if (!found) return null;
    const open = this.open().filter(isDated);
    const required = open.filter((each) => each.required);
    const target = isBehind ? this.targetOf(token.lower) : null;
    const parameter =
      target && isDated(target)
        ? target
        : required.length === 1
          ? required[0]
          : open.length === 1
            ? open[0]
            : null;
    if (!parameter) return null;
    // "until Friday" is no day; for an argument such as "due" it is one.
    if (isBehind && BOUNDARIES.has(token.lower) && parameter !== target && !isEnd(parameter)) this.fail(at);
    if (found.isRange) throw new Misread(`"${found.text}" is more than one day`);
    const value = found.value === null ? undefined : valueFor(parameter, found.value);
    if (value === undefined) this.unusable(parameter, found.text);
    else this.set(parameter, value);
    return found.next;
  }

  private said(at: number): SaidMoment | undefined {
    const token = this.tokens[at];
    return token?.kind === "quoted"
      ? undefined
      : this.input.moments.find(({ start }) => start === token?.start);
  }

  private momentAt(
    at: number,
  ): { text: string; value: string | null; isRange: boolean; next: number } | null {
    const token = this.tokens[at];
    if (!token || token.kind === "quoted") return null;
    if (/^\d{4}-\d{2}-\d{2}(T\S+)?$/.test(token.text))
      return { text: token.text, value: token.text, isRange: false, next: at + 1 };
    const moment = this.said(at);
    if (!moment) return null;
    const [reading, second] = moment.readings;
    const value =
      second || !reading
        ? null
        : reading.type === "day"
          ? reading.date
          : reading.type === "instant"
            ? reading.at
            : null;
    const next = this.tokens.findIndex(({ start }) => start >= moment.end);
    const isRange = reading?.type === "days" || reading?.type === "span";
    return { text: moment.text, value, isRange, next: next === -1 ? this.tokens.length : next };
  }

  /** The name or the id of the thing: "author Alice", "issues 12 and 13". */
  private named(at: number): number | null {
    const value = this.name(at);
    if (!value) return null;
    const parameter = this.naming ?? this.namingFor(value);
    if (!parameter) return null;
    if (parameter.type === "array") return this.giveAll(parameter, value);
    this.startCall(parameter);
    this.give(parameter, value);
    this.current().name ??= value.text;
    return value.next;
  }

  private startCall(parameter: Parameter): void {
    if (this.naming === parameter && this.input.match.isPlural) this.calls.push(newCall());
    this.naming = parameter;
  }

  private namingFor(value: Said): Parameter | null {
    const { thing, nouns, isMaking } = this.words;
    const open = this.open().filter((each) => each.type !== "boolean" && each.type !== "object");
    const isOwn = (each: Parameter) => each.link === null || linkedNoun(each) === thing;
    const isOwnName = (each: Parameter) =>
      each.words.at(-1) !== "name" || each.words.slice(0, -1).every((word) => nouns.includes(stem(word)));
    const takes = (each: Parameter) =>
      (this.fits(each, value) && !(isContent(each) && value.kind !== "quoted" && !isMaking)) ||
      each.link !== null;
    for (const name of [...(isMaking ? NAME_NAMES : [...IDENTITY_NAMES, ...QUERY_NAMES]), thing ?? ""]) {
      const found = open.filter(
        (each) =>
          (each.words.at(-1) === name || stem(each.words.at(-1) ?? "") === name) &&
          isOwn(each) &&
          isOwnName(each) &&
          takes(each),
      );
      const required = found.filter((each) => each.required);
      if (found.length === 1 || required.length === 1)
        return (required.length === 1 ? required : found)[0] ?? null;
      if (found.length > 1) return null;
    }
    const compound = open.filter(
      (each) => isFreeText(each) && /.name$/.test(each.words.at(-1) ?? "") && each.required,
    );
    if (compound.length === 1) return compound[0] ?? null;
    const gaps = open.filter(
      (each) => each.required && takes(each) && (isOwn(each) || isIdentifier(value.text)),
    );
    return gaps.length === 1 ? (gaps[0] ?? null) : null;
  }

  /** One word, words that begin with a capital letter, a quotation, or a typed value. */
  private name(at: number): Said | null {
    const first = this.tokens[at];
    if (!first || first.kind === "mark" || isSeparator(first)) return null;
    if (first.kind !== "word") return { text: first.text, kind: first.kind, next: at + 1 };
    if (this.isFunctionWord(first) || this.said(at)) return null;
    if (this.input.things.has(stem(first.lower)) && /^\p{Ll}/u.test(first.text)) return null;
    let next = at + 1;
    while (/^\p{Lu}/u.test(first.text) && this.continuesName(this.tokens[next])) next += 1;
    return { text: this.saidOf(at, next), kind: "word", next };
  }

  private continuesName(token: Token | undefined): boolean {
    if (!token || token.kind === "mark" || token.kind === "quoted") return false;
    return (
      /^[\p{Lu}\d]/u.test(token.text) &&
      !isDay(token.text) &&
      token.kind !== "email" &&
      !this.isFunctionWord(token)
    );
  }

  private isFunctionWord = ({ lower, text }: Token) =>
    (NO_NAMES.has(lower) && text !== "A") ||
    INTRODUCERS.has(lower) ||
    PREPOSITIONS.has(lower) ||
    PRONOUNS.has(lower) ||
    lower === "the";

  /**
   * A quotation, or the words up to the next argument. Words that may belong to the text or not are refused.
   */
  private text(at: number, parameter: Parameter): Said | null {
    const first = this.tokens[at];
    if (!first || first.kind === "mark" || isSeparator(first)) return null;
    if (first.kind === "quoted") return { text: first.text, kind: "quoted", next: at + 1 };
    if (first.kind === "word" && POSSESSIVES.has(first.lower))
      throw new Misread(
        `it is open what "${this.saidOf(at, Math.min(at + 2, this.tokens.length))}" means; ${QUOTE}`,
      );
    let next = at;
    while (next < this.tokens.length && (next === at || !this.endsText(next, parameter))) next += 1;
    return { text: this.saidOf(at, next), kind: next === at + 1 ? first.kind : "word", next };
  }

  private endsText(at: number, parameter: Parameter): boolean {
    const token = this.tokens[at];
    if (!token) return true;
    const doubt = (reason: string) =>
      new Misread(
        `it is open whether "${this.saidOf(at, Math.min(at + 3, this.tokens.length))}" ${reason}; ${QUOTE}`,
      );
    const isOther =
      (token.kind === "email" || token.kind === "url") &&
      this.open().some((each) => each !== parameter && each.shape === token.kind);
    if (token.kind === "quoted" || isOther || (token.kind === "mark" && token.text !== ","))
      throw doubt("belongs to the text");
    if (isSeparator(token)) {
      let behind = at;
      while (isSeparator(this.tokens[behind])) behind += 1;
      if (this.begins(behind, parameter, true)) return true;
      if (token.kind === "mark") throw doubt("belongs to the text");
      return false;
    }
    if (token.kind === "word" && CONDITIONS.has(token.lower)) throw doubt("is a condition or a text");
    return this.begins(at, parameter, false);
  }

  /** True when another argument begins inside a text. @throws {Misread} when only a guess could say it */
  private begins(at: number, parameter: Parameter, isFresh: boolean): boolean {
    const token = this.tokens[at];
    if (token?.kind !== "word") return false;
    const others = this.open().filter((each) => each !== parameter);
    const doubt = () =>
      new Misread(
        `it is open whether "${this.saidOf(at, Math.min(at + 2, this.tokens.length))}" belongs to the text before it; ${QUOTE}`,
      );
    if (INTRODUCERS.has(token.lower)) {
      if (isContent(parameter) && INTRODUCERS.get(this.introducerBefore(at) ?? "") === "content")
        throw doubt();
      return true;
    }
    if (token.lower === "with") return true;
    if (isFresh && keyAt(this.tokens, at, others)) return true;
    if (this.said(at) && others.some(isDated)) return true;
    const isKey =
      !PREPOSITIONS.has(token.lower) &&
      others.some(({ words }) => words.length === 1 && words[0] === token.lower);
    if (isKey) throw doubt();
    if (!PREPOSITIONS.has(token.lower)) return false;
    const next = this.tokens[at + 1];
    if (pointedAt(this.tokens, at + 1, this.input.steps)) return true;
    const target = this.targetOf(token.lower);
    const other = target === parameter ? null : target;
    if (
      keyAt(
        this.tokens,
        isDeterminer(next) ? at + 2 : at + 1,
        others.filter((each) => each.link !== null || namedThing(each, this.input.things) !== null),
      )
    )
      return true;
    if (
      stepsNamed(this.input.steps, next?.text ?? "").length > 0 &&
      others.some((each) => each.link !== null)
    )
      return true;
    if (!other) {
      const isOther =
        others.some((each) => each.required && each.link !== null) && /^\p{Lu}/u.test(next?.text ?? "");
      if (isOther) throw doubt();
      return this.momentAt(at + 1) !== null && others.some(isDated);
    }
    if (isTyped(next) && isFreeText(other) && !isPathName(other) && next?.kind !== "quoted") throw doubt();
    if (isTyped(next) || (token.lower === "by" && /^\p{Lu}/u.test(next?.text ?? ""))) return true;
    if (isDated(other) && this.momentAt(at + 1)) return true;
    throw doubt();
  }

  /** The last introducer before a position. */
  private introducerBefore(at: number): string | undefined {
    return this.tokens
      .slice(this.input.match.next, at)
      .findLast((token) => token.kind === "word" && INTRODUCERS.has(token.lower))?.lower;
  }

  private ends(at: number): boolean {
    const token = this.tokens[at];
    return (
      token === undefined ||
      isSeparator(token) ||
      (token.kind === "word" &&
        (token.lower === "with" || INTRODUCERS.has(token.lower) || PREPOSITIONS.has(token.lower)))
    );
  }

  /** A value, and those that commas and "and" join to it: items of a list, or one call for each. */
  private giveAll(parameter: Parameter, first: Said): number {
    const values = [first];
    const joints: boolean[] = [];
    for (let at = first.next; isSeparator(this.tokens[at]); at = values.at(-1)?.next ?? at) {
      let behind = at;
      while (isSeparator(this.tokens[behind])) behind += 1;
      if (keyAt(this.tokens, behind, this.words.parameters)) break;
      const value = this.name(behind);
      if (!value || !(this.fits(parameter, value) || this.reach(parameter, value.text).length > 0)) break;
      joints.push(this.tokens.slice(at, behind).some(({ kind }) => kind === "word"));
      values.push(value);
    }
    const [, second] = values;
    if (!second || (this.input.match.isPlural && this.naming !== null && parameter.type !== "array")) {
      this.give(parameter, first);
      return first.next;
    }
    // "A, B and C", "A and B and C"; in "Paris, France and Rome, Italy" a comma may be part of a name.
    const isList = joints.at(-1) === true && new Set(joints.slice(0, -1)).size <= 1;
    if (!isList && values.some(isPlain))
      throw new Misread(
        `it is open whether the comma in "${this.saidOf(this.indexOf(first), second.next)}" joins two values; join them with "and", or ${QUOTE}`,
      );
    if (values.some(isPlain) && parameter.type !== "array" && this.words.isMaking)
      throw new Misread(
        `it is open whether "${this.saidOf(this.indexOf(first), values.at(-1)?.next ?? 0)}" is one value; ${QUOTE}, or write a clause for each`,
      );
    const given = values.map((value) => this.valueOf(parameter, value));
    if (given.some((value) => value === null))
      throw new Misread(
        `"${values.map(({ text }) => text).join(", ")}" is not ${expected(parameter)}, as "${parameter.name}" asks for`,
      );
    if (parameter.type === "array") this.set(parameter, given);
    else this.spreadOver(parameter, given);
    return values.at(-1)?.next ?? first.next;
  }

  private indexOf = ({ next }: Said) => next - 1;

  /** @throws {Misread} when the parameter cannot take the value, and no question would help */
  private give(parameter: Parameter, said: Said): void {
    const value = this.valueOf(parameter, said);
    if (value !== null) this.set(parameter, parameter.type === "array" ? [value] : value);
    else if (parameter.link !== null || (parameter.shape ?? parameter.item?.shape ?? null) !== null)
      this.unusable(parameter, said.text);
    else throw new Misread(`"${said.text}" is not ${expected(parameter)}, as "${parameter.name}" asks for`);
  }

  /** A reference when an earlier thing has this name, else the value itself; null when it cannot be the value. */
  private valueOf(parameter: Parameter, { text, kind }: Said): JsonValue | null {
    const [reference, second] = this.reach(parameter, text);
    if (second !== undefined) throw new Misread(`several earlier things are called "${text}"`);
    return reference ?? valueFor(parameter, text, kind) ?? null;
  }

  private fits = (parameter: Parameter, { text, kind }: Said) =>
    valueFor(parameter, text, kind) !== undefined;

  private reach(parameter: Parameter, text: string): JsonValue[] {
    const isThing = namedThing(parameter, this.input.things) !== null;
    if (parameter.link === null && !isThing && !isAddress(parameter)) return [];
    return stepsNamed(this.input.steps, text).flatMap((step) => {
      if (isAddress(parameter)) return identityOf(parameter, step) ?? [];
      if (parameter.link === null) return linkByThing(parameter, step) ?? [];
      const isRole = !this.input.things.has(linkedNoun(parameter) ?? "");
      return linkTo(parameter, step) ?? (isRole ? (linkToThingOf(parameter, step) ?? []) : []);
    });
  }

  private set(parameter: Parameter, value: JsonValue): void {
    this.once(parameter);
    this.current().values.set(parameter.name, value);
  }

  private unusable(parameter: Parameter, said: string): void {
    this.once(parameter);
    this.current().unusable.set(parameter.name, said);
  }

  private spreadOver(parameter: Parameter, values: JsonValue[]): void {
    this.once(parameter);
    if (this.spread) throw new Misread("it lists values for two arguments at once");
    this.spread = { parameter, values };
  }

  private once(parameter: Parameter): void {
    if (!this.isOpen(parameter)) throw new Misread(`it gives "${parameter.name}" twice`);
  }

  private current = () => this.calls.at(-1) ?? newCall();

  private isOpen = (parameter: Parameter) =>
    !this.current().values.has(parameter.name) &&
    !this.current().unusable.has(parameter.name) &&
    this.spread?.parameter !== parameter;

  private open = () => this.words.parameters.filter(this.isOpen);

  private saidOf = (from: number, to: number) =>
    this.input.sentence.slice(this.tokens[from]?.start, this.tokens[to - 1]?.end).replace(/\s+/g, " ");

  private fail(at: number): never {
    let end = at + 1;
    while (end < this.tokens.length && !isSeparator(this.tokens[end])) end += 1;
    throw new Misread(`it is open what "${beginningOfText(this.saidOf(at, end), 80)}" means there; ${QUOTE}`);
  }

  /** "services api and web in staging": what follows the last name is for all, but not an address. */
  private share(): DraftedCall[] {
    const last = this.current();
    const { naming } = this;
    const others = this.calls.slice(0, -1);
    const isBare = ({ values, unusable }: DraftedCall) =>
      unusable.size === 0 && [...values.keys()].every((name) => name === naming?.name);
    if (others.length === 0 || !others.every(isBare)) return this.calls;
    const shared = this.words.parameters.filter(
      ({ name, shape }) =>
        name !== naming?.name && shape !== "email" && shape !== "url" && last.values.has(name),
    );
    for (const call of others)
      for (const { name } of shared) call.values.set(name, last.values.get(name) ?? null);
    return this.calls;
  }

  private spreadOut(calls: readonly DraftedCall[]): DraftedCall[] {
    const { spread } = this;
    if (!spread) return [...calls];
    return calls.flatMap((call) =>
      spread.values.map((value) => ({
        ...call,
        values: new Map(call.values).set(spread.parameter.name, value),
      })),
    );
  }
}

/** True for words without quotes that are no id. */
const isPlain = ({ kind, text }: Said) => kind === "word" && !isIdentifier(text);

const isAddress = (parameter: Parameter) => (parameter.shape ?? parameter.item?.shape) === "email";

/** True for a day as YYYY-MM-DD. */
const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}/.test(text);
