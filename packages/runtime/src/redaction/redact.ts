import {
  isExactNumber,
  isSecretKey,
  type JsonValue,
  markNumbers,
  REDACTED,
  unmarkNumbers,
} from "@planwright/plan";
import { isSecretName, redactText } from "./redact-text.ts";

/** How deep {@link redact} looks. */
export interface RedactOptions {
  /** Levels that are kept, including those of JSON inside texts; deeper levels are cut off. Default 10. */
  maxDepth?: number;
}

const MAX_DEPTH = 10;
/** Longest text that is parsed as JSON, in UTF-16 units; longer texts are treated as prose. */
const MAX_JSON_TEXT = 4_194_304;
const TOO_DEEP = "[too deep]";
/** In these objects the keys are names of arguments, and the values are schemas, not argument values. */
const NAMES_OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const SCHEMA_WORDS = ["type", "$ref", "anyOf", "oneOf", "allOf", "description"];
/** Keywords of a schema that contain values. */
const SCHEMA_VALUES = new Set(["default", "const", "enum", "examples", "example"]);

/**
 * A copy without secrets: by the name of the key at any depth, by the form of the text, and inside texts that
 * are JSON. Names of secrets stay (`secret://crm-key`, `<<login.token>>`), and so does the schema of an
 * argument with a secret name. Objects with a class of their own (dates, errors) are kept as they are.
 */
export function redact(value: unknown, { maxDepth = MAX_DEPTH }: RedactOptions = {}): unknown {
  return redacted(value, maxDepth, false);
}

/** The same for JSON, which stays JSON. */
export function redactJson(value: JsonValue, options?: RedactOptions): JsonValue {
  // Values are only replaced by texts, so the result is JSON again.
  return redact(value, options) as JsonValue;
}

/** @param isNames - the keys are names of arguments, with a schema each */
function redacted(value: unknown, levels: number, isNames: boolean): unknown {
  if (typeof value === "string") return isExactNumber(value) ? value : redactedText(value, levels);
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  if (levels <= 0) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((item) => redacted(item, levels - 1, false));
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (!isSecretKey(key)) return [key, redacted(inner, levels - 1, NAMES_OF_SCHEMAS.has(key))];
    if (isNames && isSchema(inner)) return [key, redacted(withoutValues(inner), levels - 1, false)];
    return [key, censored(inner)];
  });
  return Object.fromEntries(entries);
}

/** Replaces the value of a secret; a value that contains no secret is kept. */
function censored(value: unknown): unknown {
  if (value === undefined || value === null || (typeof value === "string" && isSecretName(value)))
    return value;
  return REDACTED;
}

/** The text of JSON is kept unless it contains a secret. */
function redactedText(text: string, levels: number): string {
  if (text.length > MAX_JSON_TEXT || !/^\s*[[{"]/.test(text)) return redactText(text);
  let parsed: unknown;
  try {
    parsed = JSON.parse(markNumbers(text));
  } catch {
    return redactText(text); // prose that begins like JSON
  }
  const before = JSON.stringify(parsed);
  const after = JSON.stringify(redacted(parsed, levels, false));
  return before === after ? redactText(text) : unmarkNumbers(after);
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    isPlain(value) &&
    SCHEMA_WORDS.some((word) => Object.hasOwn(value, word))
  );
}

function withoutValues(schema: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(schema).map(([word, value]) => [
    word,
    SCHEMA_VALUES.has(word) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries);
}
