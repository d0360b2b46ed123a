import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { PathSegment } from "../json/map-json.ts";
import { jsonTypesOf, withMeantValues } from "./schema-types.ts";

/** The information of a schema about a path. */
export type SchemaAtPath =
  /** Alternative schemas of the value. */
  | { readonly type: "known"; readonly schemas: readonly JsonValue[] }
  /** The schema does not restrict the value. */
  | { readonly type: "open" }
  /** The schema has no such path: `closed` means that it cannot exist, otherwise it is only not declared. */
  | {
      readonly type: "absent";
      readonly closed: boolean;
      readonly key: string;
      readonly declared: readonly string[];
    };

const MAX_ALTERNATIVES = 64;
const MAX_HOPS = 32;
const OPEN: SchemaAtPath = { type: "open" };

/**
 * Follows a path through a schema with local `$ref`, `allOf`, `anyOf`, `oneOf`. When the result is uncertain,
 * it is open.
 */
export function schemaAtPath(schema: JsonObject, path: readonly PathSegment[]): SchemaAtPath {
  let current: readonly JsonValue[] = [schema];
  for (const segment of path) {
    const next: JsonValue[] = [];
    let absent: (SchemaAtPath & { type: "absent" }) | undefined;
    for (const alternative of alternativesOf(current, schema)) {
      const found = stepInto(alternative, segment);
      if (found.type === "open") return OPEN;
      if (found.type === "known") next.push(...found.schemas);
      else if (!absent || absent.closed) absent = found;
    }
    if (next.length === 0) return absent ?? OPEN;
    if (next.length > MAX_ALTERNATIVES) return OPEN;
    current = next;
  }
  return { type: "known", schemas: alternativesOf(current, schema) };
}

/**
 * The JSON types that values of these schemas can have; undefined when they are not restricted. `integer` is
 * a separate type.
 */
export function typesOfSchemas(schemas: readonly JsonValue[]): ReadonlySet<string> | undefined {
  const types = new Set<string>();
  for (const schema of schemas) {
    const own = typesOf(schema);
    if (!own) return undefined;
    for (const type of own) types.add(type);
  }
  return types.size === 0 ? undefined : types;
}

/** True when a value of one of the first types can have one of the second types. */
export function typesOverlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const widened = new Set(others);
  if (others.has("integer")) widened.add("number");
  if (others.has("number")) widened.add("integer");
  return [...some].some((type) => widened.has(type));
}

function typesOf(schema: JsonValue): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, enum: values } = withMeantValues(schema);
  const types = jsonTypesOf(type);
  if (types) return types;
  // An unknown type may be any type.
  if (type !== undefined) return undefined;
  if (Object.hasOwn(schema, "const")) return [jsonType(schema["const"] ?? null)];
  if (Array.isArray(values) && values.length > 0) return values.map(jsonType);
  return undefined;
}

function jsonType(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/**
 * The alternatives, with references resolved and `anyOf`, `oneOf` expanded. {@link stepInto} handles `allOf`.
 */
function alternativesOf(schemas: readonly JsonValue[], root: JsonObject): JsonValue[] {
  const found: JsonValue[] = [];
  const pending = schemas.map((schema) => ({ schema, hops: 0 }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { schema, hops } = next;
    if (found.length > MAX_ALTERNATIVES || hops > MAX_HOPS) return [true];
    if (!isJsonObject(schema)) {
      found.push(schema);
      continue;
    }
    const { $ref, anyOf, oneOf, ...own } = schema;
    if (typeof $ref === "string") {
      pending.push({ schema: localTarget($ref, root) ?? true, hops: hops + 1 });
    } else if (Array.isArray(anyOf) || Array.isArray(oneOf)) {
      const inner = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
      if (pending.length + inner.length > MAX_ALTERNATIVES) return [true];
      const hasOwn = isJsonObject(own["properties"]);
      for (const schema of inner) {
        pending.push({ schema: hasOwn ? { allOf: [own, schema] } : schema, hops: hops + 1 });
      }
    } else if (Array.isArray(schema["allOf"])) {
      const merged = mergeAll(schema["allOf"], own, root);
      if (merged) found.push(merged);
      else return [true];
    } else found.push(schema);
  }
  return found;
}

/** `allOf` of plain object schemas as one schema; undefined when they are not plain. */
function mergeAll(parts: readonly JsonValue[], own: JsonObject, root: JsonObject): JsonObject | undefined {
  const { allOf: _, ...rest } = own;
  const merged: JsonObject = {};
  const properties: JsonObject = {};
  for (const part of [rest, ...parts]) {
    const target =
      isJsonObject(part) && typeof part["$ref"] === "string" ? localTarget(part["$ref"], root) : part;
    if (!isJsonObject(target)) return undefined;
    if (["$ref", "anyOf", "oneOf", "allOf", "if", "not"].some((name) => Object.hasOwn(target, name)))
      return undefined;
    Object.assign(merged, target);
    if (isJsonObject(target["properties"])) Object.assign(properties, target["properties"]);
  }
  return { ...merged, properties };
}

function localTarget(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let current: JsonValue = root;
  for (const token of reference.slice(2).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Array.isArray(current) ? (current[Number(key)] ?? null) : (current[key] ?? null);
  }
  return current;
}

function stepInto(schema: JsonValue, segment: PathSegment): SchemaAtPath {
  if (schema === false) return { type: "absent", closed: true, key: keyOf(segment), declared: [] };
  if (!isJsonObject(schema)) return OPEN;
  const types = typesOf(schema);
  // A text may be JSON of a structure, which a path can enter.
  if (types?.includes("string")) return OPEN;
  const canBeList = types === undefined || types.includes("array");
  const canBeObject = types === undefined || types.includes("object");
  if (segment.type === "all" || (segment.type === "index" && canBeList && !canBeObject)) {
    return canBeList ? itemSchema(schema, segment) : none(segment);
  }
  if (segment.type === "index" && canBeList) return OPEN;
  return canBeObject ? memberSchema(schema, keyOf(segment)) : none(segment);
}

function none(segment: PathSegment): SchemaAtPath {
  return { type: "absent", closed: true, key: keyOf(segment), declared: [] };
}

function keyOf(segment: PathSegment): string {
  if (segment.type === "all") return "[*]";
  return segment.type === "index" ? String(segment.index) : segment.key;
}

function itemSchema(schema: JsonObject, segment: PathSegment): SchemaAtPath {
  const { prefixItems, items } = schema;
  if (Array.isArray(prefixItems)) {
    const at = segment.type === "index" ? prefixItems[segment.index] : undefined;
    return at === undefined ? OPEN : { type: "known", schemas: [at] };
  }
  return isJsonObject(items) ? { type: "known", schemas: [items] } : OPEN;
}

function memberSchema(schema: JsonObject, key: string): SchemaAtPath {
  const { properties, additionalProperties, patternProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    return { type: "known", schemas: [properties[key] ?? true] };
  }
  if (isJsonObject(patternProperties)) return OPEN;
  if (isJsonObject(additionalProperties)) return { type: "known", schemas: [additionalProperties] };
  const declared = isJsonObject(properties) ? Object.keys(properties) : [];
  if (additionalProperties === false) return { type: "absent", closed: true, key, declared };
  if (additionalProperties === true || declared.length === 0) return OPEN;
  return { type: "absent", closed: false, key, declared };
}
