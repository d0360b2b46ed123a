import {
  argumentsOfStep,
  containsAsWords,
  exactAsText,
  findTool,
  hasSideEffects,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Plan,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { cut, schemaAtPath, toSegment, wordContinues } from "@planwright/plan/internal";
import { datesSaidIn, dateValueOf } from "../moment/date-values.ts";
import type { ValueSources } from "./check-values.ts";
import { addressesIn, createQueryWords, normalText } from "./known-values.ts";

/** Maximum number of diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/**
 * Finds values that are not in the request, the caller's facts or the tools. In a call with side effects, an
 * invented name of a thing or person, or an invented required amount, is an error. Any other value without a
 * source is an assumption: a warning.
 */
export function checkSources(
  plan: Plan,
  { tools, query, facts, moments, diagnostics, schemaWords }: ValueSources,
): void {
  if (query === undefined) return;
  const said = createSaidValues(query);
  for (const [index, step] of plan.steps.entries()) {
    const tool = findTool(tools, toolOfStep(step));
    // An unknown tool will be replaced in a repair, with other values.
    if (!tool) continue;
    const words = schemaWords.of(tool);
    const schema = isJsonObject(tool.inputSchema) ? tool.inputSchema : undefined;
    const found = unsourcedOf(
      step,
      said,
      (value) => words.has(value) || facts.gives(value) || moments.gives(value),
      (value, keys) => schema !== undefined && isExplainedCode(value, { schema, keys }, said),
    ).slice(0, MAX_DIAGNOSTICS);
    for (const value of found) {
      const severity = isError(value, step, tool) ? "error" : "warning";
      diagnostics.add(
        "ARGUMENT_UNSOURCED",
        { step: { index, id: step.id }, keys: value.keys },
        {
          message: severity === "error" ? madeUp(step, value) : assumed(step, value),
          severity,
        },
      );
    }
  }
}

function unsourcedOf(
  step: Step,
  said: SaidValues,
  isAllowed: (value: string | number) => boolean,
  isExplained: Parameters<typeof unsourcedValues>[3],
): UnsourcedValue[] {
  const under = (below: readonly string[], values: UnsourcedValue[]) =>
    values.map((value) => ({ ...value, keys: [...below, ...value.keys] }));
  const args = unsourcedValues(argumentsOfStep(step), said, isAllowed, isExplained);
  if (!isForEachStep(step)) return under(["arguments"], args);
  return [
    ...under(
      ["forEach", "items"],
      unsourcedValues(step.forEach.items, said, isAllowed, () => false),
    ),
    ...under(["forEach", "do", "arguments"], args),
  ];
}

function isError(value: UnsourcedValue, step: Step, tool: ToolDescriptor): boolean {
  if (!value.isParticular || !hasSideEffects(tool)) return false;
  if (value.isName) return true;
  const top = isForEachStep(step) ? value.keys[3] : value.keys[1];
  const required = isJsonObject(tool.inputSchema) ? tool.inputSchema["required"] : undefined;
  return Array.isArray(required) && required.includes(top ?? "");
}

const madeUp = ({ id }: Step, { field, shown }: UnsourcedValue): string =>
  `step ${id}: the request does not give ${field === "" ? "the item" : field} ${JSON.stringify(shown)}; refer to an earlier step that gives it, leave it out where it is optional, or ask for it under "missing"`;
const assumed = ({ id }: Step, { field, shown }: UnsourcedValue): string =>
  `step ${id}: ${field === "" ? "the item" : field} ${JSON.stringify(shown)} is an assumption, which the request does not say`;

/** Only the beginning of a description is checked, in characters. */
const MAX_DESCRIPTION = 5_000;
/** Longer values are not codes. */
const MAX_CODE = 40;
/** Maximum number of occurrences of a code in one description. */
const MAX_PLACES = 50;

const MEANING = String.raw`([^,;.|\n()=:"'\`]{1,60})`;
/** `'1' is Bangkok`, `1 = Bangkok`, `1: Bangkok`, `1 (Bangkok)`. */
const AFTER = new RegExp(
  String.raw`^["'\`]?\s*(?:(?:is|are|means|stands for|represents|denotes|indicates|for|->|=>|\u2192|=|:|-|\u2013)\s|[=:(])\s*(?:the )?["'\`]?${MEANING}`,
);
/** `Bangkok (1)`, `Bangkok: 1`, `Bangkok is '1'`. */
const BEFORE = new RegExp(
  String.raw`(?:^|[,;.|\n()=:])\s*(?:(?:and|or|use|the) )*["'\`]?${MEANING}["'\`]?\s*(?:\s(?:is|are|->|=>|\u2192|-|\u2013)\s|[=:(])\s*["'\`]?$`,
);

/**
 * True for a code that the description of its parameter explains with words of the request: with "'1' is
 * Bangkok", `1` is the value for a request with Bangkok.
 * @param schema - schema of the call's arguments
 * @param keys - path from the arguments to the value
 */
function isExplainedCode(
  value: string | number,
  { schema, keys }: { schema: JsonObject; keys: readonly (string | number)[] },
  said: SaidValues,
): boolean {
  const code = normalText(String(value));
  if (code === "" || code.length > MAX_CODE) return false;
  const found = schemaAtPath(schema, keys.map(toSegment));
  return (found.type === "known" ? found.schemas : []).some((each) => {
    const description = isJsonObject(each) ? each["description"] : undefined;
    return (
      typeof description === "string" && isExplainedIn(description.slice(0, MAX_DESCRIPTION), code, said)
    );
  });
}

function isExplainedIn(description: string, code: string, said: SaidValues): boolean {
  const text = normalText(description);
  if (!containsAsWords(text, code)) return false;
  let at = text.indexOf(code);
  for (let count = 0; at !== -1 && count < MAX_PLACES; at = text.indexOf(code, at + code.length), count++) {
    const end = at + code.length;
    const continues =
      wordContinues(text.charAt(at - 1), code.charAt(0)) ||
      wordContinues(code.charAt(code.length - 1), text.charAt(end));
    if (continues) continue;
    const meanings = [
      AFTER.exec(text.slice(end, end + 100))?.[1],
      BEFORE.exec(text.slice(Math.max(0, at - 100), at))?.[1],
    ];
    if (meanings.some((meaning) => meaning !== undefined && isSaid(meaning, said))) return true;
  }
  return false;
}

/**
 * True when the request contains the meaning. Without a separator the next code is at its end: "1 = Bangkok 2
 * = Phuket".
 */
function isSaid(meaning: string, said: SaidValues): boolean {
  const words = meaning.trim();
  const parted = words.replace(/(?:\s(?:and|or))?\s["'`]?[\p{N}]+$|\s(?:and|or)$/u, "");
  return [words, parted].some(
    (each) => /\p{L}{2}/u.test(each) && (said.contains(each) || said.sharesAll(each)),
  );
}

/** A value without a known source. */
interface UnsourcedValue {
  readonly keys: readonly (string | number)[];
  /** Name of the innermost field; empty for an item of a bare list. */
  readonly field: string;
  readonly shown: string;
  /**
   * True for the name of a thing or person, an amount or a time: a wrong one causes harm. Other values are
   * wording or common knowledge.
   */
  readonly isParticular: boolean;
  /** True for names and numbers of things and persons. */
  readonly isName: boolean;
}

/** Only the beginning of a text is checked, in characters. */
const MAX_LENGTH = 2_000;
/** Maximum number of values that are checked in one step. */
const MAX_VALUES = 2_000;
/** Last words of fields that name a particular thing or person. */
const PARTICULAR = new Set(
  "id ids uuid guid key phone mobile fax iban bic account card passport sku isbn name username firstname lastname surname".split(
    " ",
  ),
);
/** Those fields whose values users derive from the topic when they create new things. */
const NAMING = new Set(["name"]);
const PHONE = /^\+?[\d\s().-]{6,}$/;
const TIME_OR_MONTH = /^\d{1,2}:\d{2}(?::\d{2})?$|^\d{4}-\d{2}$/;
/** References and names of secrets; other checks cover their sources. */
const NO_LITERAL = /<<[^<>]+>>|^secret:\/\//;

/**
 * The values of a step's arguments that are neither in the request nor in the tool's schema, and cannot be
 * computed from the request. Booleans do not count, and another check covers addresses.
 *
 * @param isAllowed - true for values that the tool's schema lists
 * @param isExplained - true for a code that the schema at this path explains with words of the request
 */
function unsourcedValues(
  args: JsonValue,
  said: SaidValues,
  isAllowed: (value: string | number) => boolean,
  isExplained: (value: string | number, keys: readonly (string | number)[]) => boolean,
): UnsourcedValue[] {
  const found: UnsourcedValue[] = [];
  const pending: { value: JsonValue; keys: (string | number)[] }[] = [{ value: args, keys: [] }];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = pending.pop();
    if (!next) break;
    const { keys } = next;
    const value = exactAsText(next.value);
    if (Array.isArray(value)) {
      const items = value
        .slice(0, MAX_VALUES)
        .map((each, index) => ({ value: each, keys: [...keys, index] }));
      pending.push(...items.toReversed());
    } else if (isJsonObject(value)) {
      const fields = Object.entries(value).slice(0, MAX_VALUES);
      pending.push(...fields.map(([key, each]) => ({ value: each, keys: [...keys, key] })).toReversed());
    } else if (typeof value === "string" || typeof value === "number") {
      const field = keys.findLast((key): key is string => typeof key === "string") ?? "";
      const kind = isAllowed(value) ? "sourced" : kindOf(value, field, said);
      if (kind !== "sourced" && !isExplained(value, keys)) {
        const isName = kind === "name";
        const isParticular = isName || kind === "amount";
        found.push({ keys, field, shown: cut(String(value), 60), isParticular, isName });
      }
    }
  }
  return found;
}

type Kind = "sourced" | "name" | "amount" | "wording";

function kindOf(value: string | number, field: string, said: SaidValues): Kind {
  const last = fieldWords(field).at(-1) ?? "";
  const isParticular = PARTICULAR.has(last);
  if (typeof value === "number") {
    // "A pizza" means one.
    if (said.hasNumber(value) || (!isParticular && (value === 0 || value === 1))) return "sourced";
    if (isParticular) return "name";
    return said.speaksOfNumbers ? "sourced" : "amount";
  }
  const text = value.slice(0, MAX_LENGTH).trim();
  if (text === "" || NO_LITERAL.test(text) || addressesIn(text).length > 0) return "sourced";
  if (said.contains(text) || said.sharesAll(text)) return "sourced";
  const days = daysIn(text);
  if (days.length > 0 && days.every((dates) => dates.some((date) => said.dates.has(date)))) return "sourced";
  if (TIME_OR_MONTH.test(text) || (days.length > 0 && !isParticular))
    return said.speaksOfNumbers ? "sourced" : "amount";
  if (NAMING.has(last) && said.shares(text)) return "sourced";
  if (isParticular || PHONE.test(text)) return "name";
  return said.shares(text) ? "sourced" : "wording";
}

/** The dates of a text that contains only dates, two for a range; each may have several readings. */
function daysIn(text: string): (readonly string[])[] {
  if (text.length > MAX_DATE) return [];
  const whole = readingsOf(text);
  const parts = whole.length > 0 ? [whole] : text.split(RANGE).map(readingsOf);
  return parts.length <= 2 && parts.every((readings) => readings.length > 0) ? parts : [];
}

const MAX_DATE = 100;
const RANGE = /\s(?:-|–|to|until|and)\s|\//;
const TIME_OF_DAY = /[T ,]+\d{1,2}(?::\d{2}){0,2}(?:\.\d+)?\s?(?:[ap]\.?m\.?|h|uhr|z|[+-]\d{2}:?\d{2})?$/i;

function readingsOf(text: string): readonly string[] {
  const trimmed = text.trim();
  const dates = dateValueOf(trimmed)?.dates ?? [];
  return dates.length > 0 ? dates : (dateValueOf(trimmed.replace(TIME_OF_DAY, ""))?.dates ?? []);
}

function fieldWords(name: string): string[] {
  return (name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").match(/[A-Za-z]+/g) ?? []).map((word) =>
    word.toLowerCase(),
  );
}

/** Checks whether a request contains a value. */
interface SaidValues {
  /** True when the request contains the number, in digits or as a word, also as percent or thousands. */
  hasNumber(value: number): boolean;
  /** True when it mentions any number, amount, date or time, from which another may be computed. */
  speaksOfNumbers: boolean;
  /** The full dates in it, as YYYY-MM-DD; all readings of ambiguous dates. */
  dates: ReadonlySet<string>;
  /** True when it contains the complete text. */
  contains(text: string): boolean;
  /** True when it contains a word of the text, in any form. */
  shares(text: string): boolean;
  /** True when it contains every word and every number of the text. */
  sharesAll(text: string): boolean;
}

const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
/** Words from which a number, a date or a time can be computed. */
const SPEAKS_OF_NUMBERS =
  /\d|\b(?:half|quarter|third|dozen|couple|pair|few|several|double|twice|triple|hundred|thousand|million|percent|max(?:imum)?|min(?:imum)?|all|every|each|first|last|second|top|full|today|tonight|tomorrow|yesterday|now|noon|midnight|morning|evening|afternoon|night|day|daily|week|weekly|weekend|month|monthly|year|yearly|hour|hourly|minute|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|thirty|forty|fifty|sixty|seventy|eighty|ninety)s?\b/;
/** Letters of scripts for which no rule here recognizes numbers and names. */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/u;

/** Indexes a request. */
function createSaidValues(query: string): SaidValues {
  const plain = query.normalize("NFKC").toLowerCase();
  const words = createQueryWords(query);
  const said = [...new Set(wordsOf(plain))];
  const numbers = numbersIn(plain);
  const isOther = OTHER_SCRIPT.test(plain);
  const isSaid = (word: string): boolean => said.some((each) => isSameWord(each, word));
  return {
    hasNumber: (value) => numbers.has(value) || (isOther && !/\d/.test(plain)),
    speaksOfNumbers:
      isOther || SPEAKS_OF_NUMBERS.test(plain) || said.some((word) => NUMBER_WORDS.includes(word)),
    dates: datesSaidIn(query),
    contains: (text) => words.contains(text),
    shares: (text) => isOther || wordsOf(text.normalize("NFKC").toLowerCase()).some(isSaid),
    sharesAll: (text) => {
      const parts = wordsOf(text.normalize("NFKC").toLowerCase());
      return (
        parts.length > 0 &&
        parts.every((part) => (/^\d+$/.test(part) ? said.includes(part) : isOther || isSaid(part)))
      );
    },
  };
}

/** Sequences of letters and sequences of digits. */
function wordsOf(text: string): string[] {
  return text.match(/\p{L}+|\p{N}+/gu) ?? [];
}

/** True for two forms of one word: they differ only in a short ending. */
function isSameWord(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short === long) return true;
  const stem = short.replace(/(?:e|y|s)$/, "");
  return stem.length >= 3 && long.startsWith(stem);
}

function numbersIn(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const [, digits = "", unit] of text.matchAll(
    /(\d[\d,' ]*(?:\.\d+)?)\s?(%|percent|k\b|thousand|million)?/g,
  )) {
    const whole = Number(digits.replace(/[,' ](?=\d{3}(?:\D|$))/g, "").split(/[,' ]/)[0]);
    for (const part of [whole, ...digits.split(/[,' ]+/).map(Number)]) {
      numbers.add(part);
      if (unit === "%" || unit === "percent") numbers.add(part / 100);
      if (unit === "k" || unit === "thousand") numbers.add(part * 1_000);
      if (unit === "million") numbers.add(part * 1_000_000);
    }
  }
  for (const word of wordsOf(text)) {
    const value = NUMBER_WORDS.indexOf(word);
    if (value !== -1) numbers.add(value);
  }
  return numbers;
}
