import { holdsCredential } from "../document/secret.ts";
import { isJsonNumber, isWholeNumber } from "../json/exact-json.ts";
import { FORBIDDEN_KEYS, isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

/** The shape of a tool's outputs after one more output. Pure. */
export function observeOutput(known: OutputShape | undefined, output: JsonValue): OutputShape {
  const seen = shapeOfOutput(output);
  return settleShape(known ? mergeShapes(known, seen) : seen);
}

/** Merges the shapes that two processes learned for the same tool. Pure. */
export function mergeObserved(known: OutputShape | undefined, learned: OutputShape): OutputShape {
  return settleShape(known ? mergeShapes(known, learned) : learned);
}

/** Minimum number of objects for distinguishing names from varying keys. */
const MIN_OBJECTS = 3;
const MIN_VARIED = 3;
/** A field is rare when at most this fraction of the objects has it. */
const RARE = 1 / 5;

/**
 * A merged shape as it is stored: keys that vary from object to object lose their names, and the deepest
 * levels are removed until the rest fits into 12 KiB of JSON text. Idempotent and pure.
 */
export function settleShape(shape: OutputShape): OutputShape {
  let settled = withoutVaried(shape);
  for (let depth = MAX_DEPTH - 1; depth > 0 && sizeOf(settled) > MAX_SHAPE_BYTES; depth -= 1) {
    settled = cutBelow(settled, depth);
  }
  if (sizeOf(settled) <= MAX_SHAPE_BYTES) return settled;
  return withoutNames(settled, Object.keys(settled.fields ?? {}), true);
}

const sizeOf = (shape: OutputShape): number => new TextEncoder().encode(JSON.stringify(shape)).length;

function withoutVaried(shape: OutputShape): OutputShape {
  const own = withoutNames(shape, variedNames(shape));
  return mapInner(own, withoutVaried);
}

/**
 * Names that differ from object to object, in addition to common ones: several times as many as one object
 * has, all with values of one type. When there is already a map, one name is enough.
 */
function variedNames({ types, fields = {}, map }: OutputShape): string[] {
  const objects = types.object ?? 0;
  if (objects < MIN_OBJECTS) return [];
  const all = Object.entries(fields);
  const rare = all.filter(([, field]) => seenIn(field) <= Math.max(1, objects * RARE));
  const perObject = all.reduce((sum, [, field]) => sum + seenIn(field), 0) / objects;
  const kinds = new Set([...rare.map(([, field]) => kindOf(field)), ...(map ? [kindOf(map)] : [])]);
  kinds.delete("null");
  const areMany = map !== undefined || (rare.length >= MIN_VARIED && rare.length > perObject * 2);
  return areMany && kinds.size <= 1 ? rare.map(([name]) => name) : [];
}

/** The types of a shape without null; integers count as numbers. */
function kindOf({ types }: OutputShape): string {
  const names = Object.keys(types).map((type) => (type === "integer" ? "number" : type));
  const kinds = new Set(names.filter((type) => type !== "null"));
  return kinds.size === 0 ? "null" : [...kinds].toSorted().join();
}

function cutBelow(shape: OutputShape, depth: number): OutputShape {
  if (depth > 0) return mapInner(shape, (inner) => cutBelow(inner, depth - 1));
  const { types, fields, map, items, isCut } = shape;
  return { types, ...((fields || map || items || isCut) && { isCut: true as const }) };
}

function mapInner(shape: OutputShape, change: (inner: OutputShape) => OutputShape): OutputShape {
  const { fields, map, items } = shape;
  return {
    ...shape,
    ...(fields && {
      fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)])),
    }),
    ...(map && { map: change(map) }),
    ...(items && { items: change(items) }),
  };
}

/** Maximum number of values that are read in one output. */
const MAX_VALUES = 2_000;
/** Maximum number of items that are read in one list. */
const MAX_ITEMS = 20;
/** Minimum number of fields with equal objects that makes their names data. */
const MIN_SIBLINGS = 5;

/**
 * The shape of one output. Reads at most 2,000 values, divided among the branches, and no content of texts.
 * Keys that are data by their form, or by their siblings, already lose their names here.
 */
export function shapeOfOutput(output: JsonValue): OutputShape {
  const shape: OutputShape = { types: {} };
  observe(output, { depth: 0, budget: MAX_VALUES, isData: rememberedDataKey() }, shape);
  return withMaps(shape);
}

/** A path in an output. */
interface Place {
  /** Number of levels above it. */
  depth: number;
  /** Number of values below it that may be read. */
  budget: number;
  isData: (key: string) => boolean;
}

/** A cached `isDataKey`: the items of a list usually have the same names. */
function rememberedDataKey(): Place["isData"] {
  const known = new Map<string, boolean>();
  return (key) => {
    const isData = known.get(key) ?? isDataKey(key);
    known.set(key, isData);
    return isData;
  };
}

/**
 * Adds a value to the shape of its path. All items of a list are added to one shape, which is much cheaper
 * than merging one shape for each item.
 */
function observe(value: JsonValue, place: Place, shape: OutputShape): void {
  const type = typeOf(value);
  shape.types[type] = (shape.types[type] ?? 0) + 1;
  if (typeof value !== "object" || value === null) return;
  if (place.depth < MAX_DEPTH) {
    if (Array.isArray(value)) observeItems(value, place, shape);
    else observeFields(value, place, shape);
  } else if (Object.keys(value).length > 0) shape.isCut = true;
}

function observeItems(list: readonly JsonValue[], place: Place, shape: OutputShape): void {
  const observed = list.slice(0, Math.min(MAX_ITEMS, place.budget));
  if (observed.length === 0) {
    if (list.length > 0) shape.isCut = true;
    return;
  }
  const below = belowOf(observed, place);
  shape.items ??= { types: {} };
  for (const item of observed) observe(item, below, shape.items);
}

function observeFields(object: JsonObject, place: Place, shape: OutputShape): void {
  const keys = Object.keys(object);
  const isMapOnly = areData(keys, object, place);
  const observed = keys.slice(0, Math.min(isMapOnly ? MAX_ITEMS : MAX_FIELDS, place.budget));
  const below = belowOf(
    observed.map((key) => object[key] ?? null),
    place,
  );
  for (const key of observed) {
    const isData = isMapOnly || place.isData(key);
    observe(object[key] ?? null, below, isData ? (shape.map ??= { types: {} }) : fieldOf(shape, key));
  }
  if (isMapOnly) shape.isMapOnly = true;
  else if (observed.length < keys.length) shape.isCut = true;
}

function fieldOf(shape: OutputShape, name: string): OutputShape {
  shape.fields ??= {};
  const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
  const field = known ?? { types: {} };
  shape.fields[name] = field;
  return field;
}

/**
 * When the keys of one object at a path are data, or all objects together have too many names, all keys are
 * data. Changes the shape.
 */
function withMaps(shape: OutputShape): OutputShape {
  const { fields = {}, isMapOnly } = shape;
  const names = Object.keys(fields);
  if (names.length > MAX_FIELDS || (isMapOnly && names.length > 0)) return withMaps(toMapOnly(shape));
  for (const [name, field] of Object.entries(fields)) fields[name] = withMaps(field);
  if (shape.map) shape.map = withMaps(shape.map);
  if (shape.items) shape.items = withMaps(shape.items);
  return shape;
}

/** The context one level below: each object and list gets the same budget. */
function belowOf(values: readonly JsonValue[], { depth, budget, isData }: Place): Place {
  const holders = values.filter((value) => typeof value === "object" && value !== null).length;
  return { depth: depth + 1, budget: Math.floor((budget - values.length) / Math.max(1, holders)), isData };
}

/**
 * True when all keys of an object are data: there are too many, half of them look like data, or equal objects
 * are under them.
 */
function areData(keys: readonly string[], object: JsonObject, { isData }: Place): true | undefined {
  if (keys.length > MAX_FIELDS) return true;
  const count = keys.filter(isData).length;
  return (count > 0 && count * 2 >= keys.length) || hasEqualObjects(keys, object) || undefined;
}

function hasEqualObjects(keys: readonly string[], object: JsonObject): boolean {
  if (keys.length < MIN_SIBLINGS) return false;
  const signatures = keys.map((key) => signatureOf(object[key]));
  return signatures[0] !== undefined && signatures.every((signature) => signature === signatures[0]);
}

/** The names in an object as a text; undefined without names, or with too many. */
function signatureOf(value: JsonValue | undefined): string | undefined {
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.length === 0 || names.length > MAX_FIELDS ? undefined : names.toSorted().join("\n");
}

function typeOf(value: JsonValue): ShapeType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isJsonNumber(value)) return isWholeNumber(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}

const MAX_NAME = 64;
const MAX_WORD = 24;
const MAX_DIGITS = 3;
/**
 * The form of field names, in any script. They have no space, dot, colon or `@`, unlike names of people,
 * hosts, files and addresses.
 */
const NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u;
const HEXADECIMAL = /^[0-9a-f]{8,}$/i;
const CAPITALS_AND_DIGITS = /^(?=.*\d)[A-Z0-9_-]{6,}$/;

/**
 * True for keys that are data instead of field names, only by their form: ids, addresses, dates, texts with
 * spaces, credentials. In doubt a key is data: a missing field name only costs a hint, but a stored address
 * would expose a person.
 */
export function isDataKey(key: string): boolean {
  if (key.length > MAX_NAME || !NAME.test(key) || FORBIDDEN_KEYS.has(key)) return true;
  if (HEXADECIMAL.test(key) || CAPITALS_AND_DIGITS.test(key)) return true;
  return hasManyDigits(key) || isScrambled(key) || holdsCredential(key);
}

/** True for more digits than in `sha256`, or alternating letters and digits. */
function hasManyDigits(key: string): boolean {
  const runs = key.match(/\p{N}+/gu) ?? [];
  return runs.length > 2 || runs.join("").length > MAX_DIGITS;
}

/** True for a very long word, or too many short words for a name. */
function isScrambled(key: string): boolean {
  const words = key.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+/gu) ?? [];
  if (words.some((word) => word.length > MAX_WORD)) return true;
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return words.length >= 6 && letters < words.length * 2.5;
}

/** JSON types in a shape; an `integer` is a number without a fraction. */
const SHAPE_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
/** One of {@link SHAPE_TYPES}. */
type ShapeType = (typeof SHAPE_TYPES)[number];

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
const MAX_DEPTH = 6;
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
function toMapOnly(shape: OutputShape): OutputShape {
  return withoutNames(shape, Object.keys(shape.fields ?? {}), true);
}

/** The shape when these names are data. */
function withoutNames(
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
