import type { JsonObject } from "../json/json.ts";
import { type OutputShape, SHAPE_TYPES, seenIn } from "./output-shape.ts";

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
