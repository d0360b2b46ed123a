import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";

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
 * The fields of a forEach in any form: `{items, as, do}`; the short forms next to the call of their step,
 * which are only the items (a reference or a list) and `{items, as}`; and the JSON text of these. Otherwise
 * undefined.
 */
export function forEachFields(value: JsonValue): JsonObject | undefined {
  const form = fromJsonText(value);
  if (isJsonObject(form)) return form;
  return typeof form === "string" || Array.isArray(form) ? { items: form } : undefined;
}
