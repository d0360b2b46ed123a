import { parseExactJson } from "./exact-json.ts";
import type { JsonValue } from "./json.ts";

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
