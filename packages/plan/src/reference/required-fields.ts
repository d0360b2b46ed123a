import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { PathSegment } from "../json/path.ts";
import { cachedStructure, followPath, type StructureCache } from "./follow-path.ts";
import { scanText } from "./scan-text.ts";

/** The path in an output that a contract writes as a required field: `id`, `results[*].document_id`. */
export function requiredPath(field: string): readonly PathSegment[] {
  const only = scanText(field.startsWith("[") ? `<<x${field}>>` : `<<x.${field}>>`)?.parts ?? [];
  const [reference] = only;
  const isPath = only.length === 1 && reference?.type === "reference" && reference.root === "x";
  return isPath ? reference.path : [{ type: "key", key: field }];
}

/** Values visited at most in search of one name. */
const MAX_VISITED = 10_000;

/**
 * True when an output has a field that a contract requires: under this name or path, or, for a plain name,
 * anywhere below its lists and objects. Own properties only. An output with more than 10,000 values is not
 * searched to its end and counts as having it.
 */
export function hasRequiredField(output: JsonValue, field: string): boolean {
  const cache: StructureCache = new Map();
  const path = requiredPath(field);
  if (followPath(output, path, "fail", cache).found) return true;
  const [name] = path;
  if (path.length > 1 || name?.type !== "key") return false;
  const pending: JsonValue[] = [typeof output === "string" ? cachedStructure(output, cache) : output];
  let visited = 0;
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (++visited > MAX_VISITED) return true;
    if (isJsonObject(value) && Object.hasOwn(value, name.key)) return true;
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) pending.push(inner);
  }
  return false;
}
