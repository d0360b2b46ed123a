import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

const MAX_SCHEMAS = 500;
/** A schema with one of these keywords describes its values, although it is not read here. */
const COMPOSED = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "const", "enum"] as const;

/**
 * True for an output schema that does not describe every place: it is absent, or has an object without fields
 * or with any others, or a list without items. Earlier outputs tell more than such a schema.
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
