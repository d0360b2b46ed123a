/** JSON types, as a shape counts them; an `integer` is a number without a fraction. */
export const SHAPE_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
/** One of {@link SHAPE_TYPES}. */
export type ShapeType = (typeof SHAPE_TYPES)[number];

/**
 * What was seen at one place in the outputs of a tool: types, names of fields and how often each was there.
 * It holds no value, and no key that is data.
 */
export interface OutputShape {
  /** How many values of each type stood here. */
  types: { [type in ShapeType]?: number };
  /** Fields of the objects, by name. One that was not there each time is optional. */
  fields?: { [name: string]: OutputShape };
  /** What stood under keys that are data, such as ids: all of them together, without the keys. */
  map?: OutputShape;
  /** All keys of these objects are data: names that come later are as well. */
  isMapOnly?: true;
  /** Items of the lists, all together. */
  items?: OutputShape;
  /** Something was left out here: a level, a field. What is not named may still be there. */
  isCut?: true;
}

/** A place of which at most so many fields keep their names; with more of them keys are data. */
export const MAX_FIELDS = 80;
/** Levels below the output that are looked into. */
export const MAX_DEPTH = 6;
/** Largest shape as JSON text in UTF-8, in bytes. */
export const MAX_SHAPE_BYTES = 12_288;

/** How many values stood here. */
export function seenIn({ types }: OutputShape): number {
  let sum = 0;
  for (const type of SHAPE_TYPES) sum += types[type] ?? 0;
  return sum;
}
