import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { fromJsonText } from "../json/parse-json.ts";

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
