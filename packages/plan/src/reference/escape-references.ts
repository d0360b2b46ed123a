import type { JsonValue } from "../json/json.ts";
import { mapJson } from "../json/map-json.ts";

/** User text in the plan language: text that looks like the beginning of a reference is escaped. */
export function escapeText(text: string): string {
  return text.replaceAll(/<<|\{\{|\$ref:/g, "\\$&");
}

/** {@link escapeText} for each text of a value; the copy shares nothing with it. */
export function escapeReferences(value: JsonValue): JsonValue {
  return mapJson(value, escapeText);
}
