import { type CopyLimits, type CopyRefusal, copyJson } from "../json/copy-json.ts";
import { stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import { jsonOfText, type OutputText, outputTextOf } from "./output-text.ts";

/** Why a tool result has no output. */
export interface ToolResultError {
  /**
   * TOOL_FAILED: the tool itself reported an error. TOOL_RESULT_INVALID: not a tool result, or not JSON.
   * TOOL_RESULT_TOO_LARGE: over the size or depth limit.
   */
  code: "TOOL_FAILED" | "TOOL_RESULT_INVALID" | "TOOL_RESULT_TOO_LARGE";
  /** For TOOL_FAILED the tool's own message, at most 10,000 characters. */
  message: string;
  /** For TOOL_FAILED the tool's structured content. */
  data?: JsonValue | undefined;
}

/**
 * The output of a tool's answer, or the error. `text` is how the tool wrote an output that it returned as
 * JSON text.
 */
export type ToolResultOutput =
  | { ok: true; output: JsonValue; text?: OutputText }
  | { ok: false; error: ToolResultError };

/** Limits of an output. */
export interface ToolResultLimits {
  /** Deepest nesting of objects and arrays. Default 64, at most 1,000. */
  maxDepth?: number | undefined;
  /**
   * Largest output as compact JSON in UTF-8, in bytes. Default 8 MiB: half of what one MongoDB document can
   * hold.
   */
  maxBytes?: number | undefined;
}

/** Maximum depth for measuring the size of an output that is too large. */
const MEASURED_DEPTH = 1_000;
const MEASURED_TIMES = 8;
const MAX_MESSAGE_CHARS = 10_000;
const NO_MESSAGE = "The tool reported an error without a message";

/**
 * The step output of an MCP tool result.
 *
 * 1. `isError: true` is a failure with the tool's own message: its texts; else a `message` or `error` text in
 *    its structured content; else that content as JSON.
 * 2. `structuredContent`, any JSON value (null counts as absent when there is also content).
 * 3. One text block: the value when the text is exactly one JSON value (`5`, `true`, `null`, `"a"`, an object
 *    or array), together with how it was written; else the text (`007`, `NaN`).
 * 4. Several text blocks: the list of their objects and arrays when each of them is one, else the texts
 *    joined by line breaks.
 * 5. One other block (image, audio, resource, link): the block as it came. Several blocks that are not all
 *    text: the list of blocks as they came.
 * 6. No content: null.
 *
 * The output shares nothing with the result. Never throws: values that are not JSON (NaN, functions, cycles)
 * give TOOL_RESULT_INVALID or TOOL_RESULT_TOO_LARGE, and so does an answer that asks for input, which a plan
 * cannot give.
 */
export function outputOfToolResult(result: unknown, limits: ToolResultLimits = {}): ToolResultOutput {
  const bounds = { maxDepth: limits.maxDepth ?? 64, maxBytes: limits.maxBytes ?? 8_388_608 };
  // Around the output a result adds a level for `content`, one for a block, one for an embedded resource, and
  // protocol fields. It may contain the output twice, as structure and as text, in which quotes are escaped
  // once more.
  const copy = copyJson(result, { maxDepth: bounds.maxDepth + 4, maxBytes: bounds.maxBytes * 4 + 65_536 });
  if (!copy.ok) return refused(copy, bounds, result);
  if (!isJsonObject(copy.value)) return invalid("The tool's answer is not a result object");
  return outputOfPlainResult(copy.value, bounds);
}

function outputOfPlainResult(result: JsonObject, limits: CopyLimits): ToolResultOutput {
  const { resultType, content = [], structuredContent } = result;
  if (typeof resultType === "string" && resultType !== "complete") {
    return invalid(`The tool's answer is "${resultType.slice(0, 64)}", not a complete result`);
  }
  if (!Array.isArray(content)) return invalid("The tool's content is not a list of blocks");
  if (!content.every(isBlock)) return invalid("The tool's content holds something that is not a block");
  if (result["isError"] === true) return failure(content, structuredContent, limits);
  const isStructured =
    structuredContent !== undefined && (structuredContent !== null || content.length === 0);
  const own = isStructured ? undefined : jsonOfContent(content);
  const output = own ? own.value : isStructured ? structuredContent : outputOfContent(content);
  const copy = copyJson(output, limits);
  if (!copy.ok) return refused(copy, limits, output);
  return { ok: true, output: copy.value, ...(own && { text: outputTextOf(own, copy.value) }) };
}

/** The value and the text of content that is one text with exactly one JSON value. */
function jsonOfContent(content: readonly JsonObject[]): { value: JsonValue; text: string } | undefined {
  const [only, ...others] = content;
  if (only?.["type"] !== "text" || others.length > 0 || typeof only["text"] !== "string") return undefined;
  const json = jsonOfText(only["text"]);
  return json && { value: json.value, text: only["text"] };
}

function outputOfContent(content: readonly JsonObject[]): JsonValue {
  const [first, ...others] = content;
  if (first === undefined) return null;
  const texts = textsOf(content);
  if (texts.length < content.length) return others.length === 0 ? first : [...content];
  const structures = texts.map(structureOfText);
  if (structures.every((value) => typeof value !== "string"))
    return structures.length === 1 ? (structures[0] ?? null) : structures;
  return texts.join("\n");
}

/** The object or array of a JSON text, otherwise the text: numbers, booleans and null stay text. */
export function structureOfText(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function failure(
  content: readonly JsonObject[],
  structured: JsonValue | undefined,
  limits: CopyLimits,
): ToolResultOutput {
  const data = structured === undefined || structured === null ? undefined : copyJson(structured, limits);
  const own = textsOf(content).join("\n").trim() || messageIn(structured) || NO_MESSAGE;
  const message = own.length > MAX_MESSAGE_CHARS ? `${own.slice(0, MAX_MESSAGE_CHARS - 3)}...` : own;
  return { ok: false, error: { code: "TOOL_FAILED", message, ...(data?.ok ? { data: data.value } : {}) } };
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

function isBlock(block: JsonValue): block is JsonObject {
  return isJsonObject(block) && typeof block["type"] === "string";
}

function textsOf(content: readonly JsonObject[]): string[] {
  return content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
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
