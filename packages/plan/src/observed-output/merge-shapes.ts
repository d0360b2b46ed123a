import { MAX_FIELDS, type OutputShape, SHAPE_TYPES } from "./output-shape.ts";

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
