import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Numbers are exact from wire to wire. A JSON number that a double would change (an id beyond 2^53, more than
 * 17 digits, 1e400) is held as a text: {@link MARK} and its digits as they were written. Such a text passes
 * through copies, BSON, queues and hashes unchanged, and becomes a number again where JSON text is written.
 *
 * 1. A text is an exact number exactly if it is one mark and the digits of a JSON number.
 * 2. No outsider can write one: a text of marks and digits gets one more mark when it is read, and loses it
 *    when it is written.
 * 3. Where nothing of this kind stands in a text, reading costs one scan, and writing none.
 *
 * U+FDD0 is a noncharacter: Unicode keeps it for the inner use of programs.
 */
const MARK = "\uFDD0";
declare const IS_EXACT: unique symbol;
/** A number that a double would change, as {@link parseExactJson} gives it. */
export type ExactNumber = string & { readonly [IS_EXACT]: true };

const MARK_CODE = 0xfdd0;
const NUMBER = "-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?";
const EXACT = new RegExp(`^${MARK}${NUMBER}$`);
const MARKED = new RegExp(`^${MARK}+${NUMBER}$`);
/** A quoted text of one mark and digits. A quote after a backslash is inside a text; a colon follows a name. */
const QUOTED = new RegExp(`(?<!\\\\)"${MARK}(${NUMBER})"(?!\\s*:)`, "g");
const QUOTED_TEXT = new RegExp(`(?<!\\\\)"${MARK}(${MARK}+${NUMBER})"(?!\\s*:)`, "g");
const ESCAPED_MARK = /\\u[fF][dD][dD]0/;
/** A double keeps every number of so many digits, and prints it again. */
const SAFE_DIGITS = 15;
/** More digits; written one by one, because only so does the engine of regular expressions skip characters. */
const LONG_RUN =
  /[0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.]*(?:[eE][+-]?[0-9]+)?/g;
const LARGE_EXPONENT = /[0-9][eE][-+0-9][0-9][0-9]+(?=[\],}\s]|$)/g;
/** Texts of so many characters, on average, are short. */
const SHORT = 100;
/** So many texts, names of fields among them, say nothing about the average yet. */
const FIRST_TEXTS = 10;
/** Long numbers that are compared at once. */
const COMPARED = 64;
/** No double prints more than 17 digits. */
const TOO_LONG = /^-?(?:0\.0*)?[1-9][0-9]{16,}[1-9]$/;
/** Numbers without exponent that end as the printed form of a double ends. */
const PRINTED = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const BACKSLASH = 92;

/**
 * The value of a JSON text, in which each number that a double would change is an exact number
 * ({@link isExactNumber}); every other value is as `JSON.parse` gives it.
 * @throws {SyntaxError} like `JSON.parse`
 */
export function parseExactJson(text: string): JsonValue {
  const marked = markNumbers(text);
  if (marked === text) return JSON.parse(text);
  try {
    return JSON.parse(marked);
  } catch {
    // The original text gives the position of the error.
    return JSON.parse(text);
  }
}

/** The JSON text of a value, like `JSON.stringify`, with exact numbers as the digits that they are. */
export function stringifyExactJson(value: JsonValue | object, indent?: number): string {
  return unmarkNumbers(JSON.stringify(value, null, indent));
}

/**
 * A JSON text for readers that know doubles only: the same text, in which each number that a double would
 * change is replaced by a text that {@link unmarkNumbers} makes that number again. Text that is not JSON gives
 * text that is not JSON.
 */
export function markNumbers(text: string): string {
  if (!mayHoldExact(text)) return text;
  const parts: string[] = [];
  let kept = 0;
  const replace = (start: number, end: number, by: string) => {
    parts.push(text.slice(kept, start), `"${MARK}${by}"`);
    kept = end;
  };
  for (let at = 0; at < text.length; ) {
    const open = indexOrEnd(text, '"', at);
    for (; at < open; at += 1) {
      if (!isNumeric(text.charCodeAt(at))) continue;
      const [start, end] = numberAround(text, at);
      const digits = text.slice(start, end);
      if (changes(digits)) replace(start, end, digits);
      at = end;
    }
    at = endOfText(text, open);
    const first = text.charCodeAt(open + 1);
    if (first !== MARK_CODE && first !== BACKSLASH) continue;
    // A name stays as it is: it is never a number.
    const own = isName(text, at) ? undefined : textOf(text.slice(open, at));
    if (own !== undefined && MARKED.test(own)) replace(open, at, own);
  }
  return kept === 0 ? text : parts.join("") + text.slice(kept);
}

/** The JSON text in which the exact numbers of {@link markNumbers} are numbers again. */
export function unmarkNumbers(text: string): string {
  if (!text.includes(MARK)) return text;
  const numbers = text.replace(QUOTED, "$1");
  return numbers.includes(MARK) ? numbers.replace(QUOTED_TEXT, '"$1"') : numbers;
}

/** A text that did not come as JSON, so that it is never an exact number: see rule 2. */
export function textOfOutsider(text: string): string {
  return text.startsWith(MARK) && MARKED.test(text) ? MARK + text : text;
}

/** True for a number that a double would change, as {@link parseExactJson} gives it. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "string" && value.startsWith(MARK) && EXACT.test(value);
}

/** True for a JSON number: a double, or an exact number. */
export function isJsonNumber(value: unknown): value is number | ExactNumber {
  return typeof value === "number" || isExactNumber(value);
}

/** True for an integer of any size. */
export function isWholeNumber(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value);
  return isExactNumber(value) && decimalOf(value.slice(1)).exponent >= 0;
}

/** A number from its JSON notation: a double where that is the same number, otherwise an exact number. */
export function exactNumberOf(digits: string): number | ExactNumber {
  const exact = MARK + digits;
  return changes(digits) && isExactNumber(exact) ? exact : Number(digits);
}

/** The digits of a number, as JSON text has them. */
export function digitsOf(value: number | ExactNumber): string {
  return typeof value === "number" ? String(value) : value.slice(1);
}

/** An exact number as the text of its digits, for readers of words; any other value as it is. */
export function exactAsText<Value>(value: Value): Value | string {
  return isExactNumber(value) ? digitsOf(value) : value;
}

type Replaced = (number: ExactNumber) => JsonValue;
type OnCopy = (copy: JsonValue, original: JsonValue) => void;

/**
 * The value with each exact number replaced; the same value when it holds none.
 * @param onCopy - called for each object and list that had to be copied
 */
export function mapExact(value: JsonObject, replaced: Replaced, onCopy?: OnCopy): JsonObject;
export function mapExact(value: JsonValue, replaced: Replaced, onCopy?: OnCopy): JsonValue;
export function mapExact(value: JsonValue, replaced: Replaced, onCopy?: OnCopy): JsonValue {
  if (isExactNumber(value)) return replaced(value);
  if (typeof value !== "object" || value === null) return value;
  let copy: JsonValue[] | JsonObject | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const mapped = mapExact(inner, replaced, onCopy);
    if (mapped === inner) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    Object.defineProperty(copy, key, { value: mapped });
  }
  if (copy) onCopy?.(copy, value);
  return copy ?? value;
}

/** The nearest double of a number; the largest one for a number beyond all doubles. */
export function nearestDouble(value: number | ExactNumber): number {
  const double = Number(digitsOf(value));
  return Number.isFinite(double) ? double : Math.sign(double) * Number.MAX_VALUE;
}

/** Below 0 when the first number is smaller, 0 when both are equal, above 0 when it is larger; exact. */
export function compareNumbers(left: number | ExactNumber, right: number | ExactNumber): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const one = decimalOf(digitsOf(left));
  const other = decimalOf(digitsOf(right));
  if (one.sign !== other.sign) return one.sign - other.sign;
  if (one.sign === 0) return 0;
  const scale = one.digits.length + one.exponent - (other.digits.length + other.exponent);
  if (scale !== 0) return scale * one.sign;
  // Both begin at the same power of ten and end without zeros: their digits have the order of the numbers.
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -one.sign : one.sign;
}

/** Longest numbers whose division is exact, in digits: it takes quadratic time. */
const MAX_DIVIDED = 1_000;

/** True when a number is a multiple of another one above 0, as decimal numbers: 19.99 is one of 0.01. */
export function isMultipleOf(value: number | ExactNumber, divisor: number | ExactNumber): boolean {
  const one = decimalOf(digitsOf(value));
  const other = decimalOf(digitsOf(divisor));
  if (one.sign === 0) return true;
  const exponent = Math.min(one.exponent, other.exponent);
  const lengths = [one, other].map((each) => each.digits.length + each.exponent - exponent);
  if (Math.max(...lengths) > MAX_DIVIDED)
    return Number.isInteger(nearestDouble(value) / nearestDouble(divisor));
  const scaled = (each: Decimal) => BigInt(each.digits) * 10n ** BigInt(each.exponent - exponent);
  return scaled(one) % scaled(other) === 0n;
}

/** A decimal number: sign * digits * 10^exponent. Its digits neither begin nor end with 0. */
interface Decimal {
  sign: -1 | 0 | 1;
  digits: string;
  exponent: number;
}

function decimalOf(number: string): Decimal {
  const [, minus, whole = "0", fraction = "", power = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(number) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === DIGIT_0) end -= 1;
  if (end === 0) return { sign: 0, digits: "", exponent: 0 };
  const exponent = Number(power) - fraction.length + all.length - end;
  return { sign: minus === "" ? 1 : -1, digits: all.slice(0, end), exponent };
}

/** True when the nearest double prints as another number. What is no JSON number stays for the parser. */
function changes(number: string): boolean {
  if (number.length <= SAFE_DIGITS && !/[eE]/.test(number)) return false;
  if (TOO_LONG.test(number)) return true;
  const double = Number(number);
  const printed = String(double);
  if (printed === number) return false;
  if (PRINTED.test(number) && PRINTED.test(printed)) return true;
  if (!EXACT.test(MARK + number)) return false;
  if (!Number.isFinite(double)) return true;
  const one = decimalOf(number);
  const other = decimalOf(printed);
  return one.sign !== other.sign || one.digits !== other.digits || one.exponent !== other.exponent;
}

/**
 * True when the text contains a number that a double would change, or a mark; there are false positives. Such
 * a number has more than 15 digits or an exponent of three.
 */
function mayHoldExact(text: string): boolean {
  if (text.includes(MARK) || (text.includes("\\u") && ESCAPED_MARK.test(text))) return true;
  const outside: string[] = [];
  let at = 0;
  // Long texts are skipped; where texts are short, it is cheaper to read them too.
  while (at < text.length && outside.length < at / SHORT + FIRST_TEXTS) {
    const open = indexOrEnd(text, '"', at);
    outside.push(text.slice(at, open));
    at = endOfText(text, open);
  }
  return mayChange(outside.join('"')) || mayChange(text.slice(at));
}

function mayChange(text: string): boolean {
  const long = text.match(LONG_RUN) ?? [];
  for (let at = 0; at < long.length; at += COMPARED) {
    const some = long.slice(at, at + COMPARED);
    if (!arePrinted(some) && some.some(changes)) return true;
  }
  for (const { index } of text.matchAll(LARGE_EXPONENT)) {
    if (changes(text.slice(...numberAround(text, index)))) return true;
  }
  return false;
}

/** True when doubles keep these numbers and print them as they are written. */
function arePrinted(numbers: readonly string[]): boolean {
  const list = `[${numbers.join(",")}]`;
  try {
    return JSON.stringify(JSON.parse(list)) === list;
  } catch {
    return false;
  }
}

/** Start and end of the characters of a number around a place. */
function numberAround(text: string, at: number): [start: number, end: number] {
  let start = at;
  while (start > 0 && isNumeric(text.charCodeAt(start - 1))) start -= 1;
  let end = at + 1;
  while (end < text.length && isNumeric(text.charCodeAt(end))) end += 1;
  return [start, end];
}

/** A character that may stand in a number: a digit, a point, a sign, or the e of an exponent. */
function isNumeric(code: number): boolean {
  return code <= DIGIT_9 ? code >= DIGIT_0 || (code >= 43 && code <= 46 && code !== 44) : (code | 32) === 101;
}

/** Where the text that begins at a quote ends, or the end of everything. */
function endOfText(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    at = indexOrEnd(text, '"', at);
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === BACKSLASH) slashes -= 1;
    if ((at - slashes) % 2 === 0) return Math.min(at + 1, text.length);
  }
  return text.length;
}

function indexOrEnd(text: string, part: string, from: number): number {
  const found = text.indexOf(part, from);
  return found === -1 ? text.length : found;
}

function textOf(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}

/** True for a text that ends here and is the name of a field. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (" \n\r\t".includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ":";
}

/** Parses JSON text, with exact numbers; the message contains the position of the error. */
export function parseJson(text: string): { ok: true; value: JsonValue } | { ok: false; message: string } {
  try {
    return { ok: true, value: parseExactJson(text) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message.slice(0, 200) : "not JSON" };
  }
}

/**
 * A value, parsed when it is JSON text of an object or a list: strict forms of model answers can contain an
 * object of any shape only as text. Any other text is returned unchanged.
 */
export function fromJsonText(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  const parsed = parseJson(value);
  return parsed.ok && typeof parsed.value === "object" ? parsed.value : value;
}

/**
 * Longest JSON text, in bytes, that is read, resolved or written on the event loop of a service. A larger
 * one is held as a {@link JsonText}.
 */
export const LARGE_JSON_BYTES = 262_144;

/** A value whose JSON text is large: it is held as that text, because building the value blocks the process. */
export class JsonText {
  /**
   * The text, or its UTF-8 in memory that threads share: then nothing is copied where it is handed on. May have the
   * white space with which a tool wrote it. Not to be changed.
   */
  readonly content: string | Uint8Array;
  /** Size of the text in UTF-8. */
  readonly sizeBytes: number;
  #value: WeakRef<object> | undefined;

  constructor(content: string | Uint8Array, sizeBytes: number) {
    this.content = content;
    this.sizeBytes = sizeBytes;
  }

  /** The text. Takes about 5 ms for each MiB of UTF-8. */
  get text(): string {
    return textOfContent(this.content);
  }

  /**
   * The value; not to be changed. Takes about 50 ms for each MiB, more for many fields. It is kept only as
   * long as memory allows.
   */
  value(): JsonValue {
    const known = this.#value?.deref();
    if (known !== undefined) return known as JsonValue;
    const value = parseExactJson(this.text);
    if (typeof value === "object" && value !== null) this.#value = new WeakRef(value);
    return value;
  }
}

/** The text of {@link JsonText.content}, or of a part of it that cuts no character. */
export function textOfContent(content: JsonText["content"]): string {
  return typeof content === "string"
    ? content
    : new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
}

/**
 * These parts, one behind the other, as a {@link JsonText.content} in memory that threads share.
 * @param sizeBytes - of all parts in UTF-8
 */
export function sharedUtf8(parts: readonly JsonText["content"][], sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(sizeBytes));
  const encoder = new TextEncoder();
  let at = 0;
  for (const part of parts) {
    if (typeof part === "string") at += encoder.encodeInto(part, bytes.subarray(at)).written;
    else {
      bytes.set(part, at);
      at += part.byteLength;
    }
  }
  return bytes;
}

/** A value, or the text of a large one. */
export type HeldJson = JsonValue | JsonText;

/** A {@link HeldJson} in a form that can be sent to another thread. */
export type SentJson = { value: JsonValue } | Pick<JsonText, "content" | "sizeBytes">;

/** The form of a value or text for another thread: bytes are shared with it, not copied. */
export function toSentJson(held: HeldJson): SentJson {
  return held instanceof JsonText ? { content: held.content, sizeBytes: held.sizeBytes } : { value: held };
}

/** The value or text that another thread sent. */
export function heldOfSent(sent: SentJson): HeldJson {
  return "content" in sent ? new JsonText(sent.content, sent.sizeBytes) : sent.value;
}

/** The value itself; see {@link JsonText.value} for the time that it takes. */
export function valueOfHeld(held: HeldJson): JsonValue {
  return held instanceof JsonText ? held.value() : held;
}

/**
 * JSON text with sorted names in each object and no white space, so that equal values give equal bytes.
 * Values that are not JSON are handled as in JSON.stringify: fields without a value are left out.
 * @param onContainer - called for each object and list; may throw, to limit the work for a hostile value
 * @see RFC 8785, whose forms of numbers and texts, and whose order of names, are those of ECMAScript
 */
export function canonicalJson(value: unknown, onContainer?: () => void): string {
  if (hasToJson(value)) return canonicalJson(value.toJSON(), onContainer);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  onContainer?.();
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, onContainer)).join(",")}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field, onContainer)}`);
  return `{${fields.join(",")}}`;
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of a text that is given in parts. */
export function sha256OfParts(parts: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** SHA-256 of the canonical JSON of a value, in hexadecimal: equal values have equal digests. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** True when two values are equal JSON: the order of keys does not matter, 0 equals -0, exact numbers are equal in
 * any notation. Without recursion. */
export function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  const pending: [JsonValue, JsonValue][] = [[left, right]];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [one, other] = pair;
    if (one === other) continue;
    if (Array.isArray(one)) {
      if (!Array.isArray(other) || one.length !== other.length) return false;
      for (const [index, item] of one.entries()) pending.push([item, other[index] ?? null]);
    } else if (isJsonObject(one) && isJsonObject(other)) {
      const keys = Object.keys(one);
      if (keys.length !== Object.keys(other).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(other, key)) return false;
        pending.push([one[key] ?? null, other[key] ?? null]);
      }
    } else if (!isExactNumber(one) || !isExactNumber(other) || compareNumbers(one, other) !== 0) {
      return false;
    }
  }
  return true;
}
