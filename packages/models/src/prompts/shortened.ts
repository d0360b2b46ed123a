import { isExactNumber, isJsonObject, type JsonValue, stringifyExactJson } from "@planwright/plan";
import { cleanText } from "./clean-text.ts";

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
