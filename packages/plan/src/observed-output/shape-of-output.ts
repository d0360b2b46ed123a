import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { isDataKey } from "./data-key.ts";
import { toMapOnly } from "./merge-shapes.ts";
import { MAX_DEPTH, MAX_FIELDS, type OutputShape, type ShapeType } from "./output-shape.ts";

/** Values of one output that are looked at. */
const MAX_VALUES = 2_000;
/** Items of one list that are looked at. */
const MAX_ITEMS = 20;
/** Fields with equal objects in them, from which on their names are data. */
const MIN_SIBLINGS = 5;

/**
 * The shape of one output. Looks at no more than 2,000 values, shared out among the branches, whatever the
 * output holds, and into no text. Keys that are data by their form, or by what stands beside them, lose their
 * names here already.
 */
export function shapeOfOutput(output: JsonValue): OutputShape {
  const shape: OutputShape = { types: {} };
  look(output, { depth: 0, budget: MAX_VALUES, isData: rememberedDataKey() }, shape);
  return withMaps(shape);
}

/** A place in an output. */
interface Place {
  /** Levels above it. */
  depth: number;
  /** Values below it that may be looked at. */
  budget: number;
  isData: (key: string) => boolean;
}

/** The items of a list mostly have the same names, and each is judged once. */
function rememberedDataKey(): Place["isData"] {
  const known = new Map<string, boolean>();
  return (key) => {
    const isData = known.get(key) ?? isDataKey(key);
    known.set(key, isData);
    return isData;
  };
}

/**
 * Adds a value to what was seen at its place: the items of a list all add to one shape, which costs a
 * fraction of merging one shape each.
 */
function look(value: JsonValue, place: Place, shape: OutputShape): void {
  const type = typeOf(value);
  shape.types[type] = (shape.types[type] ?? 0) + 1;
  if (typeof value !== "object" || value === null) return;
  if (place.depth < MAX_DEPTH) {
    if (Array.isArray(value)) lookAtItems(value, place, shape);
    else lookAtFields(value, place, shape);
  } else if (Object.keys(value).length > 0) shape.isCut = true;
}

function lookAtItems(list: readonly JsonValue[], place: Place, shape: OutputShape): void {
  const looked = list.slice(0, Math.min(MAX_ITEMS, place.budget));
  if (looked.length === 0) {
    if (list.length > 0) shape.isCut = true;
    return;
  }
  const below = belowOf(looked, place);
  shape.items ??= { types: {} };
  for (const item of looked) look(item, below, shape.items);
}

function lookAtFields(object: JsonObject, place: Place, shape: OutputShape): void {
  const keys = Object.keys(object);
  const isMapOnly = areData(keys, object, place);
  const looked = keys.slice(0, Math.min(isMapOnly ? MAX_ITEMS : MAX_FIELDS, place.budget));
  const below = belowOf(
    looked.map((key) => object[key] ?? null),
    place,
  );
  for (const key of looked) {
    const isData = isMapOnly || place.isData(key);
    look(object[key] ?? null, below, isData ? (shape.map ??= { types: {} }) : fieldOf(shape, key));
  }
  if (isMapOnly) shape.isMapOnly = true;
  else if (looked.length < keys.length) shape.isCut = true;
}

function fieldOf(shape: OutputShape, name: string): OutputShape {
  shape.fields ??= {};
  const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
  const field = known ?? { types: {} };
  shape.fields[name] = field;
  return field;
}

/**
 * Where keys are data in one of the objects at a place, or there are too many names in all of them, they are
 * in all. Changes the shape.
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

/** One level down: each object and list may spend the same on what it holds. */
function belowOf(values: readonly JsonValue[], { depth, budget, isData }: Place): Place {
  const holders = values.filter((value) => typeof value === "object" && value !== null).length;
  return { depth: depth + 1, budget: Math.floor((budget - values.length) / Math.max(1, holders)), isData };
}

/**
 * All keys of an object are data when there are too many, when half of them look like it, or when equal
 * objects stand under them.
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

/** The names in an object; undefined for what has none, or too many. */
function signatureOf(value: JsonValue | undefined): string | undefined {
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.length === 0 || names.length > MAX_FIELDS ? undefined : names.toSorted().join("\n");
}

function typeOf(value: JsonValue): ShapeType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}
