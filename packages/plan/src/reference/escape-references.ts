import type { JsonValue } from "../json/json.ts";
import { mapJson } from "../json/map-json.ts";

/**
 * Text of a user in the plan language: what looks like the beginning of a reference is escaped, because it is
 * none.
 */
export function escapeText(text: string): string {
  return text.replaceAll(/<<|\{\{|\$ref:/g, "\\$&");
}

/** The same for each text of a value; the copy shares nothing with it. */
export function escapeReferences(value: JsonValue): JsonValue {
  return mapJson(value, escapeText);
}
