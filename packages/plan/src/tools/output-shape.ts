import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

/** JSON types in a shape; an `integer` is a number without a fraction. */
export const SHAPE_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
/** One of {@link SHAPE_TYPES}. */
export type ShapeType = (typeof SHAPE_TYPES)[number];

/**
 * What was observed at one path in the outputs of a tool: types, field names, and counts. It contains no
 * value, and no key that is data.
 */
export interface OutputShape {
  /** Number of values of each type. */
  types: { [type in ShapeType]?: number };
  /** Fields of the objects, by name. A field that was sometimes missing is optional. */
  fields?: { [name: string]: OutputShape };
  /** The merged values under keys that are data, such as ids; without the keys. */
  map?: OutputShape;
  /** All keys of these objects are data, also later ones. */
  isMapOnly?: true;
  /** The merged items of the lists. */
  items?: OutputShape;
  /** A level or a field was left out here: unnamed fields may still exist. */
  isCut?: true;
}

/** Maximum number of named fields at one path; with more fields the keys are data. */
export const MAX_FIELDS = 80;
/** Number of levels below the output that are observed. */
export const MAX_DEPTH = 6;
/** Maximum size of a shape as JSON text in UTF-8, in bytes. */
export const MAX_SHAPE_BYTES = 12_288;

/** The number of values that were observed. */
export function seenIn({ types }: OutputShape): number {
  let sum = 0;
  for (const type of SHAPE_TYPES) sum += types[type] ?? 0;
  return sum;
}

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

/**
 * Merges two shapes of the same path: counts are added, names are united. With more than 80 names the keys
 * become a map. Commutative and associative; a shape merged with itself is the same shape with doubled
 * counts. Pure, and the result may share parts with both.
 */
export function mergeShapes(one: OutputShape, other: OutputShape): OutputShape {
  const types: OutputShape["types"] = {};
  for (const type of SHAPE_TYPES) {
    const count = (one.types[type] ?? 0) + (other.types[type] ?? 0);
    if (count > 0) types[type] = count;
  }
  const items = mergeOptional(one.items, other.items);
  return {
    types,
    ...mergeKeys(one, other),
    ...(items && { items }),
    ...((one.isCut || other.isCut) && { isCut: true as const }),
  };
}

/** The shape when all keys are data: every field is merged into the map. */
export function toMapOnly(shape: OutputShape): OutputShape {
  return withoutNames(shape, Object.keys(shape.fields ?? {}), true);
}

/** The shape when these names are data. */
export function withoutNames(
  { fields = {}, map, ...shape }: OutputShape,
  names: readonly string[],
  isMapOnly?: true,
): OutputShape {
  const data = new Set(names);
  const kept = Object.entries(fields).filter(([name]) => !data.has(name));
  const moved = Object.entries(fields).flatMap(([name, field]) => (data.has(name) ? [field] : []));
  const whole = [...(map ? [map] : []), ...moved].reduce<OutputShape | undefined>(mergeOptional, undefined);
  return {
    ...shape,
    ...(kept.length > 0 && { fields: Object.fromEntries(kept) }),
    ...(whole && { map: whole }),
    ...((isMapOnly || shape.isMapOnly) && { isMapOnly: true as const }),
  };
}

function mergeOptional(one: OutputShape | undefined, other: OutputShape | undefined) {
  return one && other ? mergeShapes(one, other) : (one ?? other);
}

function mergeKeys(one: OutputShape, other: OutputShape): Partial<OutputShape> {
  const map = mergeOptional(one.map, other.map);
  const fields = mergeFields(one.fields, other.fields);
  const isMapOnly = one.isMapOnly || other.isMapOnly;
  const keys = { ...(fields && { fields }), ...(map && { map }), ...(isMapOnly && { isMapOnly }) };
  if (!isMapOnly && Object.keys(fields ?? {}).length <= MAX_FIELDS) return keys;
  const { types: _, ...data } = toMapOnly({ types: {}, ...keys });
  return data;
}

function mergeFields(one: OutputShape["fields"], other: OutputShape["fields"]): OutputShape["fields"] {
  if (!one || !other) return one ?? other;
  const fields = { ...one };
  for (const [name, field] of Object.entries(other)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields[name] = known ? mergeShapes(known, field) : field;
  }
  return fields;
}

/**
 * A shape as a JSON Schema: fields that always existed are `required`, values under keys that are data are
 * `additionalProperties`, and `x-seen` is the number of occurrences. It describes earlier outputs and
 * promises nothing.
 */
export function schemaOfShape(shape: OutputShape): JsonObject {
  const types = SHAPE_TYPES.filter((type) => shape.types[type] !== undefined);
  const { fields, map, items, isCut } = shape;
  const objects = shape.types.object ?? 0;
  const all = Object.entries(fields ?? {});
  const required = all.filter(([, field]) => seenIn(field) >= objects).map(([name]) => name);
  return {
    ...(types.length > 0 && { type: types.length === 1 ? (types[0] ?? "null") : types }),
    ...(fields && {
      properties: Object.fromEntries(all.map(([name, field]) => [name, schemaOfShape(field)])),
    }),
    ...(required.length > 0 && { required }),
    ...(map ? { additionalProperties: schemaOfShape(map) } : isCut && { additionalProperties: true }),
    ...(items && { items: schemaOfShape(items) }),
    "x-seen": seenIn(shape),
  };
}
