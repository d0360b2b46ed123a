import { type CopyLimits, type CopyRefusal, copyJson } from "../json/copy-json.ts";
import { parseJson, stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

/** The field in `_meta` with which a tool says that a call that failed had no effect: `"none"`. */
const EFFECT_META = "dev.planwright/effect";

/** Why a tool result has no output. */
interface ToolResultError {
  /**
   * TOOL_FAILED: the tool itself reported an error. TOOL_RESULT_INVALID: not a tool result, or not JSON.
   * TOOL_RESULT_TOO_LARGE: over the size or depth limit.
   */
  code: "TOOL_FAILED" | "TOOL_RESULT_INVALID" | "TOOL_RESULT_TOO_LARGE";
  /** For TOOL_FAILED the tool's own message, at most 10,000 characters. */
  message: string;
  /** For TOOL_FAILED the tool's structured content, or the object or list in its text. */
  data?: JsonValue | undefined;
  /** Present when the tool says that the call had no effect. */
  effect?: "none" | undefined;
}

/**
 * The output of a tool's answer, or the error. `text` is how the tool wrote an output that it returned as
 * JSON text. `warnings` name what has another shape than the protocol declares: OUTPUT_UNEXPECTED.
 */
type ToolResultOutput =
  | { ok: true; output: JsonValue; text?: OutputText; warnings?: string[] }
  | { ok: false; error: ToolResultError };

/** Limits of an output. */
interface ToolResultLimits {
  /** Deepest nesting of objects and arrays. Default 64, at most 1,000. */
  maxDepth?: number | undefined;
  /**
   * Largest output as compact JSON in UTF-8, in bytes. Default 8 MiB: half of what one MongoDB document can
   * hold.
   */
  maxBytes?: number | undefined;
  /** The result was parsed from JSON text and belongs to the caller: it is not copied first. Default: false. */
  isParsed?: boolean | undefined;
}

/** Maximum depth for measuring the size of an output that is too large. */
const MEASURED_DEPTH = 1_000;
const MEASURED_TIMES = 8;
const MAX_MESSAGE_CHARS = 10_000;
const MAX_WARNINGS = 5;
/** The kinds of blocks that the protocol declares. */
const BLOCK_TYPES: ReadonlySet<string> = new Set(["text", "image", "audio", "resource", "resource_link"]);
/** The fields of a result that are not its output. */
const RESULT_FIELDS: ReadonlySet<string> = new Set([
  "content",
  "structuredContent",
  "isError",
  "resultType",
  "_meta",
]);
const NO_MESSAGE = "The tool reported an error without a message";

/**
 * The step output of an MCP tool result. An answer that is not an error always has one, whatever its shape:
 * the tool has acted, so the answer must not be lost. Null counts as absent in every field.
 *
 * 1. `isError: true` is a failure with the tool's own message: its texts; else a `message` or `error` text in
 *    its structured content; else that content as JSON.
 * 2. `structuredContent`, any JSON value.
 * 3. One text block: the value when the text is exactly one JSON value (`5`, `true`, `null`, `"a"`, an object
 *    or array), together with how it was written; else the text (`007`, `NaN`).
 * 4. Several text blocks: the list of their objects and arrays when each of them is one; the object or array
 *    when exactly one of them is one and the others are notes, together with all the texts; else the texts
 *    joined by line breaks.
 * 5. One other block (image, audio, resource, link): the block as it came. Several blocks that are not all
 *    text: the list of blocks as they came.
 * 6. No content: null, or the other fields of the result when it has any.
 *
 * What has another shape than the protocol declares (content that is no list, a broken block, structured
 * content that is no object before revision 2026-07-28) is kept as it came, with a warning. The output shares
 * nothing with the result. Never throws: values that are not JSON (NaN, functions, cycles) and results that
 * are not objects give TOOL_RESULT_INVALID or TOOL_RESULT_TOO_LARGE, and so does an answer that asks for
 * input, which a plan cannot give.
 */
export function outputOfToolResult(result: unknown, limits: ToolResultLimits = {}): ToolResultOutput {
  const bounds = { maxDepth: limits.maxDepth ?? 64, maxBytes: limits.maxBytes ?? 8_388_608 };
  if (limits.isParsed && isJsonObject(result)) return outputOfPlainResult(result, bounds);
  // Around the output a result adds a level for `content`, one for a block, one for an embedded resource, and
  // protocol fields. It may contain the output twice, as structure and as text, in which quotes are escaped
  // once more.
  const copy = copyJson(result, { maxDepth: bounds.maxDepth + 4, maxBytes: bounds.maxBytes * 4 + 65_536 });
  if (!copy.ok) return refused(copy, bounds, result);
  if (!isJsonObject(copy.value)) return invalid("The tool's answer is not a result object");
  return outputOfPlainResult(copy.value, bounds);
}

function outputOfPlainResult(result: JsonObject, limits: CopyLimits): ToolResultOutput {
  const { resultType, isError = null, structuredContent = null } = result;
  if (typeof resultType === "string" && resultType !== "complete") {
    return invalid(`The tool's answer is "${resultType.slice(0, 64)}", not a complete result`);
  }
  const unexpected: Unexpected[] = [];
  const content = readContent(result["content"] ?? null, unexpected);
  // An error in another form is still one: what follows must not build on it.
  if (isError === true || isError === "true" || isError === 1) return failure(result, content, limits);
  if (isError !== null && isError !== false) unexpected.push(["isError", "true or false", describe(isError)]);
  // The newer protocol allows any JSON value, and always says what kind of result it is.
  if (structuredContent !== null && !isJsonObject(structuredContent) && resultType !== "complete")
    unexpected.push(["structuredContent", "an object", describe(structuredContent)]);
  const own = structuredContent === null ? jsonOfContent(content) : undefined;
  const output = own ? own.value : (structuredContent ?? outputWithoutJson(result, content, unexpected));
  const copy = copyJson(output, limits);
  if (!copy.ok) return refused(copy, limits, output);
  return {
    ok: true,
    output: copy.value,
    ...(own && { text: outputTextOf(own, copy.value) }),
    ...(unexpected.length > 0 && {
      warnings: unexpected.slice(0, MAX_WARNINGS).map((one) => outputUnexpected(...one)),
    }),
  };
}

/** Something with another shape than declared. */
type Unexpected = [path: string, declared: string, returned: string];

/** The warning that an output, or a part of an answer, has another shape than was declared. */
export function outputUnexpected(path: string, declared: string, returned: string): string {
  return `OUTPUT_UNEXPECTED: ${cut(path, 200)}: declared ${cut(declared, 200)}, returned ${cut(returned, 100)}`;
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars - 3)}...` : text;
}

/** A value in words, for people. */
function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a text" : `the ${typeof value} ${value}`;
}

/** The content as a list; notes what is not a list, or not a block. */
function readContent(content: JsonValue, unexpected: Unexpected[]): JsonValue[] {
  if (content === null) return [];
  if (!Array.isArray(content)) {
    unexpected.push(["content", "a list of blocks", describe(content)]);
    return [content];
  }
  for (const [index, block] of content.entries()) {
    const path = `content[${index}]`;
    if (!isJsonObject(block)) unexpected.push([path, "a block with a type", describe(block)]);
    else if (typeof block["type"] !== "string")
      unexpected.push([`${path}.type`, "a text", describe(block["type"])]);
    else if (block["type"] === "text" && typeof block["text"] !== "string")
      unexpected.push([`${path}.text`, "a text", describe(block["text"])]);
    else if (!BLOCK_TYPES.has(block["type"]))
      unexpected.push([`${path}.type`, [...BLOCK_TYPES].join(", "), block["type"]]);
  }
  return content;
}

/**
 * The value and the text of content that is one text with exactly one JSON value, or several texts of which
 * exactly one is an object or array: the others are notes to it.
 */
function jsonOfContent(content: readonly JsonValue[]): { value: JsonValue; text: string } | undefined {
  const texts = textsOf(content);
  if (texts.length < content.length) return undefined;
  const [only, ...others] = texts;
  if (only === undefined) return undefined;
  if (others.length === 0) {
    const json = jsonOfText(only);
    return json && { value: json.value, text: only };
  }
  const structures = texts.map(structureOfText).filter((value) => typeof value !== "string");
  const [structure] = structures;
  return structures.length === 1 && structure !== undefined
    ? { value: structure, text: texts.join("\n") }
    : undefined;
}

function outputWithoutJson(
  result: JsonObject,
  content: readonly JsonValue[],
  unexpected: Unexpected[],
): JsonValue {
  const [first, ...others] = content;
  if (first === undefined) return otherFields(result, unexpected);
  const texts = textsOf(content);
  if (texts.length < content.length) return others.length === 0 ? first : [...content];
  const structures = texts.map(structureOfText);
  return structures.every((value) => typeof value !== "string") ? structures : texts.join("\n");
}

/** The output of a result without content: null, or what the server put beside the fields of the protocol. */
function otherFields(result: JsonObject, unexpected: Unexpected[]): JsonValue {
  if (Array.isArray(result["content"])) return null;
  const others = Object.entries(result).filter(([name]) => !RESULT_FIELDS.has(name));
  if (others.length === 0) return null;
  unexpected.push(["content", "a list of blocks", describe(result["content"])]);
  return Object.fromEntries(others);
}

/** The object or array of a JSON text, otherwise the text: numbers, booleans and null stay text. */
export function structureOfText(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function failure(
  { structuredContent = null, _meta: meta = null }: JsonObject,
  content: readonly JsonValue[],
  limits: CopyLimits,
): ToolResultOutput {
  const structured = structuredContent ?? structureOfContent(content);
  const data = structured === null ? undefined : copyJson(structured, limits);
  const own = textsOf(content).join("\n").trim() || messageIn(structuredContent) || NO_MESSAGE;
  return {
    ok: false,
    error: {
      code: "TOOL_FAILED",
      message: cut(own, MAX_MESSAGE_CHARS),
      ...(data?.ok && { data: data.value }),
      ...(saysNoEffect(meta) && { effect: "none" }),
    },
  };
}

/** The object or array that a failed tool wrote as text. */
function structureOfContent(content: readonly JsonValue[]): JsonValue {
  const own = jsonOfContent(content);
  return typeof own?.value === "object" ? own.value : null;
}

/** True for a `_meta`, or the data of a JSON-RPC error, that says that the call had no effect. */
export function saysNoEffect(meta: JsonValue | undefined): boolean {
  return isJsonObject(meta) && Object.hasOwn(meta, EFFECT_META) && meta[EFFECT_META] === "none";
}

function messageIn(structured: JsonValue | undefined): string {
  if (structured === undefined || structured === null) return "";
  if (typeof structured === "string") return structured.trim();
  if (isJsonObject(structured)) {
    const { message, error } = structured;
    if (typeof message === "string" && message.trim() !== "") return message.trim();
    if (typeof error === "string" && error.trim() !== "") return error.trim();
    if (isJsonObject(error) && typeof error["message"] === "string") return error["message"].trim();
  }
  return stringifyExactJson(structured);
}

/** The texts of blocks; a text that stands in place of a block is one too. */
function textsOf(content: readonly JsonValue[]): string[] {
  return content.flatMap((block) => {
    if (typeof block === "string") return [block];
    if (!isJsonObject(block) || typeof block["text"] !== "string") return [];
    return (block["type"] ?? "text") === "text" ? [block["text"]] : [];
  });
}

function refused({ problem, path }: CopyRefusal, limits: CopyLimits, value: unknown): ToolResultOutput {
  if (problem === "not-json") return invalid(`The tool's answer holds something that is not JSON at ${path}`);
  const message = problem === "too-deep" ? tooDeep(limits) : tooLarge(value, limits);
  return { ok: false, error: { code: "TOOL_RESULT_TOO_LARGE", message } };
}

function tooDeep({ maxDepth }: CopyLimits): string {
  return `The tool's output is nested deeper than ${maxDepth} levels, the most that is kept; let the tool return it flatter`;
}

/**
 * The message with the size (as far as it is measured, because a hostile value may be endless), the limit,
 * and what to do.
 */
function tooLarge(value: unknown, { maxBytes }: CopyLimits): string {
  const measured = copyJson(value, { maxDepth: MEASURED_DEPTH, maxBytes: maxBytes * MEASURED_TIMES });
  const size = measured.ok ? measured.sizeBytes : `more than ${maxBytes * MEASURED_TIMES}`;
  return `The tool's output is ${size} bytes of JSON, and at most ${maxBytes} are kept; let the tool return less, such as a page, a selection of fields, or where the data can be found`;
}

function invalid(message: string): ToolResultOutput {
  return { ok: false, error: { code: "TOOL_RESULT_INVALID", message } };
}

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
function outputTextOf(own: { text: string; value: JsonValue }, kept: JsonValue): OutputText {
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
