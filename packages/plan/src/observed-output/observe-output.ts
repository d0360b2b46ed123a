import type { JsonValue } from "../json/json.ts";
import { mergeShapes, withoutNames } from "./merge-shapes.ts";
import { MAX_DEPTH, MAX_SHAPE_BYTES, type OutputShape, seenIn } from "./output-shape.ts";
import { shapeOfOutput } from "./shape-of-output.ts";

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
