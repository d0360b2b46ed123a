import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

const MAX_SCHEMAS = 500;
/**
 * A schema with one of these keywords counts as describing its values; the keywords are not evaluated here.
 */
const COMPOSED = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "const", "enum"] as const;

/**
 * True for an output schema that does not describe every value: it is absent, or has an object without fields
 * or with any additional fields, or a list without item schema. Earlier outputs then give more information.
 */
export function leavesOpen(schema: JsonValue | undefined): boolean {
  const pending: (JsonValue | undefined)[] = [schema];
  for (let count = 0; count < pending.length && count < MAX_SCHEMAS; count += 1) {
    const next = pending[count];
    if (!isJsonObject(next) || isOpen(next)) return true;
    pending.push(...innerOf(next));
  }
  return false;
}

/** True when the schema itself does not describe its values. */
function isOpen(schema: JsonObject): boolean {
  if (COMPOSED.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  const { type, properties, items, prefixItems, additionalProperties } = schema;
  const types = new Set(Array.isArray(type) ? type : [type]);
  if (types.has("array") && items === undefined && prefixItems === undefined) return true;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  if (additionalProperties === true) return true;
  if (types.has("object")) return names.length === 0 && additionalProperties === undefined;
  return type === undefined && names.length === 0 && items === undefined;
}

function innerOf({ properties, items, additionalProperties }: JsonObject): JsonValue[] {
  return [
    ...(isJsonObject(properties) ? Object.values(properties) : []),
    ...(isJsonObject(items) ? [items] : []),
    ...(isJsonObject(additionalProperties) ? [additionalProperties] : []),
  ];
}
