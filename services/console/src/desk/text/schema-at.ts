import type { JsonPath } from "./cursor-place.ts";
import { isObject, type JsonRecord } from "./json-record.ts";

/**
 * The schemas of a value at a path: all alternatives of a JSON Schema, with references and unions resolved.
 */
export function schemasAt(root: JsonRecord, path: JsonPath): JsonRecord[] {
  let schemas = alternativesOf(root, root);
  for (const part of path) {
    schemas = schemas.flatMap((schema) => {
      const child = typeof part === "number" ? itemOf(schema, part) : propertyOf(schema, part);
      return isObject(child) ? alternativesOf(root, child) : [];
    });
  }
  return schemas;
}

function itemOf(schema: JsonRecord, index: number): unknown {
  const { prefixItems, items } = schema;
  return (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items;
}

function propertyOf(schema: JsonRecord, name: string): unknown {
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties;
}

/** Most levels of references and unions that are followed: a schema may refer to itself. */
const MAX_DEPTH = 8;

function alternativesOf(root: JsonRecord, schema: JsonRecord, depth = 0): JsonRecord[] {
  if (depth > MAX_DEPTH) return [];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const parts = [anyOf, oneOf, allOf].filter(Array.isArray).flat().filter(isObject);
  const referenced = typeof $ref === "string" ? schemaAtPointer(root, $ref) : undefined;
  const inner = referenced ? [...parts, referenced] : parts;
  const found = inner.flatMap((part) => alternativesOf(root, part, depth + 1));
  return "type" in schema || "properties" in schema || "enum" in schema || "const" in schema || !inner.length
    ? [schema, ...found]
    : found;
}

function schemaAtPointer(root: JsonRecord, reference: string): JsonRecord | undefined {
  if (!reference.startsWith("#")) return undefined;
  let value: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isObject(value) ? value : undefined;
}
