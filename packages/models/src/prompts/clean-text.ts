import {
  isExactNumber,
  isJsonObject,
  type JsonValue,
  stringifyExactJson,
  unmarkNumbers,
  wholeCharacters,
} from "@planwright/plan";
import { estimateTokens } from "./prompt-budget.ts";

/**
 * Invisible characters, which can carry hidden instructions: controls, zero-width characters, direction
 * marks, tags, variation selectors, fillers, private use.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/**
 * Untrusted text for a prompt: without control and invisible characters, with single spaces, at most `max`
 * characters.
 */
export function cleanText(text: string, max: number): string {
  const clean = text
    .slice(0, max * 4)
    // U+FEFF counts as white space but is invisible.
    .replace(/[^\S\ufeff]/g, " ")
    .replace(INVISIBLE, "")
    .replace(/ {2,}/g, " ")
    .trim();
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).replace(/\p{Cs}$/u, "")}…`;
}

/** JSON text with exact numbers and without `<`, so that no value can end the block that contains it. */
export function dataText(value: unknown): string {
  return unmarkNumbers(JSON.stringify(value)).replaceAll("<", "\\u003c");
}

/** A text with more characters never fits: a token is estimated at 3.3 characters at most. */
const MAX_CHARS_PER_TOKEN = 4;

/**
 * A text that costs at most `maxTokens` by {@link estimateTokens}. A longer text keeps its head and tail,
 * with a mark between them that says how many characters are left out. Empty when not even the mark fits.
 * Pure.
 * @param write - writes the text as in the prompt, when that costs more tokens than the text itself. Default:
 * unchanged
 */
export function cutMiddle(text: string, maxTokens: number, write = (cut: string): string => cut): string {
  const maxKept = Math.max(0, maxTokens) * MAX_CHARS_PER_TOKEN;
  const fits = (cut: string) => estimateTokens(write(cut)) <= maxTokens;
  if (text.length <= maxKept && fits(text)) return text;
  let best = "";
  let [low, high] = [0, Math.min(maxKept, text.length - 1)];
  while (low <= high) {
    const kept = Math.floor((low + high) / 2);
    const cut = withoutMiddle(text, kept);
    if (fits(cut)) {
      best = cut;
      low = kept + 1;
    } else high = kept - 1;
  }
  return best;
}

function withoutMiddle(text: string, kept: number): string {
  const head = wholeCharacters(text, Math.ceil(kept / 2));
  // Half of a surrogate pair is not a character.
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}

const MAX_DEPTH = 6;
const MAX_FIELDS = 40;

/** Limits for one attempt. */
interface Size {
  items: number;
  chars: number;
}

/** From large to small; the first that fits is used. */
const SIZES: readonly Size[] = [
  { items: 20, chars: 1_000 },
  { items: 5, chars: 300 },
  { items: 2, chars: 80 },
  { items: 1, chars: 20 },
];

/**
 * An untrusted value, small enough for a prompt. Long texts and lists are cut, with a mark that says by how
 * much, and control and invisible characters are removed. At most `max` characters as JSON; `max` is at least
 * 20. Pure.
 */
export function shortened(value: JsonValue, max: number): JsonValue {
  for (const size of SIZES) {
    const short = shorten(value, size, MAX_DEPTH);
    if (JSON.stringify(short).length <= max) return short;
  }
  const text = stringifyExactJson(shorten(value, { items: 1, chars: 20 }, 3));
  let chars = max;
  // Quotes inside a text are escaped, so they need more characters.
  while (chars > 10 && JSON.stringify(cleanText(text, chars)).length > max) chars = Math.floor(chars * 0.8);
  return cleanText(text, chars);
}

function shorten(value: JsonValue, size: Size, depth: number): JsonValue {
  if (typeof value === "string") return isExactNumber(value) ? value : cleanText(value, size.chars);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) {
    const kept = value.slice(0, size.items).map((item) => shorten(item, size, depth - 1));
    return value.length > kept.length ? [...kept, `… ${value.length - kept.length} more`] : kept;
  }
  if (!isJsonObject(value)) return null;
  const fields = Object.entries(value);
  const kept = fields
    .slice(0, MAX_FIELDS)
    .map(([name, inner]): [string, JsonValue] => [cleanText(name, 128), shorten(inner, size, depth - 1)]);
  if (fields.length > kept.length) kept.push(["…", `${fields.length - kept.length} more`]);
  return Object.fromEntries(kept);
}
