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
