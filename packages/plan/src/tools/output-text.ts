import type { JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";

/**
 * How a tool wrote a value as text, kept beside it: the indent of its JSON in spaces (0: compact, -1: on one
 * line with a space behind each comma and colon), or the whole text where none of these reproduces it.
 */
export type OutputText = number | string;

/**
 * How the output of a step was written; for a forEach that of each item's data, null for items that are no
 * text.
 */
export type OutputTexts = OutputText | (OutputText | null)[];

const COMPACT = 0;
const SPACED = -1;
const MAX_INDENT = 10;
/** Half of a character: no store can keep it, so such a text is not kept. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The JSON value that a text is, nothing else in it but white space; undefined for any other text, and for a
 * number that would lose digits.
 */
export function jsonOfText(text: string): { value: JsonValue } | undefined {
  // What JSON can begin with; most texts are told by their first character.
  if (!/^\s*[[{"\-0-9tfn]/.test(text)) return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  const { value } = parsed;
  return typeof value === "number" && !isWhole(value, text.trim()) ? undefined : { value };
}

/**
 * True when a number holds all that its digits say: not infinite, and no integer of which another one is
 * kept.
 */
function isWhole(value: number, digits: string): boolean {
  if (!Number.isFinite(value)) return false;
  return (
    Number.isSafeInteger(value) ||
    String(value) === digits ||
    !/^-?\d+$/.test(digits) ||
    BigInt(digits) === BigInt(value)
  );
}

/**
 * How a text that is the JSON of a value was written, as small as it can be told.
 * @param own - the text, and its value
 * @param kept - the value without what is never kept of one, such as a member named `__proto__`: a text that
 * holds more is not kept
 */
export function outputTextOf(own: { text: string; value: JsonValue }, kept: JsonValue): OutputText {
  const { text, value } = own;
  if (JSON.stringify(value) !== JSON.stringify(kept)) return COMPACT;
  const indent = /\n( *)\S/.exec(text.slice(0, 10_000))?.[1]?.length;
  const forms = indent === undefined ? [COMPACT, SPACED] : [indent];
  const form = forms.find((one) => one <= MAX_INDENT && textOfOutput(value, one) === text);
  return form ?? (LONE_SURROGATE.test(text) ? COMPACT : text);
}

/** The text that a tool wrote, from its value and {@link outputTextOf}. */
export function textOfOutput(value: JsonValue, written: OutputText): string {
  if (typeof written === "string") return written;
  if (written !== SPACED) return JSON.stringify(value, null, written);
  // No line break stands inside a JSON text of one value: those are all between its parts.
  return JSON.stringify(value, null, 1).replace(/,\n */g, ", ").replace(/\n */g, "");
}
