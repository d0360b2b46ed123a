import { stringifyExactJson } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";

/**
 * How a tool wrote a value as text, stored with the value: the indent of its JSON in spaces (0: compact, -1:
 * on one line with a space after each comma and colon), or the complete text when none of these reproduces
 * it.
 */
export type OutputText = number | string;

/**
 * How the output of a step was written; for a forEach how each item's data was, null for items that were not
 * text.
 */
export type OutputTexts = OutputText | (OutputText | null)[];

const COMPACT = 0;
const SPACED = -1;
const MAX_INDENT = 10;
/** Half of a character: stores cannot keep it, so such a text is not kept. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The JSON value of a text that contains only this value and white space; undefined for any other text.
 */
export function jsonOfText(text: string): { value: JsonValue } | undefined {
  // JSON begins with one of these characters; most other texts are excluded by their first character.
  if (!/^\s*[[{"\-0-9tfn]/.test(text)) return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  return { value: parsed.value };
}

/**
 * How the JSON text of a value was written, in the smallest form.
 * @param own - the text and its value
 * @param kept - the value that is kept; if it is not the same JSON, the text is not kept
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
  if (written !== SPACED) return stringifyExactJson(value, written);
  // JSON text has line breaks only between its tokens, never inside a string.
  return stringifyExactJson(value, 1).replace(/,\n */g, ", ").replace(/\n */g, "");
}
