import { cut } from "../diagnostics/diagnostic-collector.ts";
import { exactAsText } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import { isJsonObject } from "../json/json.ts";
import { dateValueOf } from "../moment/date-values.ts";
import type { SaidValues } from "./said-values.ts";
import { addressesIn } from "./sample-values.ts";

/** A value without a known source. */
export interface UnsourcedValue {
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
export function unsourcedValues(
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
      pending.push(...value.map((each, index) => ({ value: each, keys: [...keys, index] })).toReversed());
    } else if (isJsonObject(value)) {
      const inner = Object.entries(value).map(([key, each]) => ({ value: each, keys: [...keys, key] }));
      pending.push(...inner.toReversed());
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
