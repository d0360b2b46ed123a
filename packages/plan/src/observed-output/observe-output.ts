import type { JsonValue } from "../json/json.ts";
import { mergeShapes } from "./merge-shapes.ts";
import type { OutputShape } from "./output-shape.ts";
import { settleShape } from "./settle-shape.ts";
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
