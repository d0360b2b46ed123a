import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";

/**
 * A value, or the value of which it is the JSON text: strict forms of model answers have no other way to hold
 * an object of any shape. A text that is not JSON of an object or a list stays as it is.
 */
export function fromJsonText(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  const parsed = parseJson(value);
  return parsed.ok && typeof parsed.value === "object" ? parsed.value : value;
}

/**
 * The fields of a forEach in any of its forms: `{items, as, do}`; the short ones that stand beside the call
 * of their step, which are the items alone (a reference or a list) and `{items, as}`; and the JSON text of
 * these. Undefined for anything else.
 */
export function forEachFields(value: JsonValue): JsonObject | undefined {
  const form = fromJsonText(value);
  if (isJsonObject(form)) return form;
  return typeof form === "string" || Array.isArray(form) ? { items: form } : undefined;
}
