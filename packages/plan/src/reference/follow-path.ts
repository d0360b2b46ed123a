import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { PathSegment } from "../json/path.ts";
import { structureOfText } from "../tools/tool-result.ts";

/** The result of following a path; the value is part of the source, not a copy. */
export type Followed =
  | { readonly found: true; readonly value: JsonValue }
  | { readonly found: false; readonly reason: string };

/** Texts that were already parsed as JSON: a large text output is parsed once for all references to it. */
export type StructureCache = Map<string, JsonValue>;

/**
 * The object or list of a JSON text; any other text (`007`, `NaN`, `+5`, `true`) stays text. Parses each text
 * once.
 */
export function cachedStructure(text: string, cache: StructureCache): JsonValue {
  let structure = cache.get(text);
  if (structure === undefined) {
    structure = structureOfText(text);
    cache.set(text, structure);
  }
  return structure;
}

/**
 * The list that a value is for a reader that asks for one (`[0]`, `[*]`, the items of a forEach): servers
 * unwrap a list of one to its item, and answer null for an empty list. Undefined for every other value that
 * is no list: a text or a number says rather something else.
 */
export function readAsList(value: JsonValue): readonly JsonValue[] | undefined {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : undefined;
}

/**
 * Follows a path into a value: own properties of objects and indexes of lists, never inherited properties.
 * `[*]` visits every item and returns a list. A JSON text of an object or list on the path is parsed. One
 * object is a list of one where the path asks for a list, see {@link readAsList}. A name in a list of content
 * blocks is looked up in the one block that is the JSON text of an object: the others are notes, images, links.
 * @param missing - `null` gives null for an item of a `[*]` without the field; `fail` makes the complete path
 *   fail
 */
export function followPath(
  value: JsonValue,
  path: readonly PathSegment[],
  missing: "fail" | "null",
  cache: StructureCache,
): Followed {
  let current = value;
  for (const [position, segment] of path.entries()) {
    if (typeof current === "string") current = cachedStructure(current, cache);
    if (segment.type === "all") {
      return followAll(current, path.slice(position + 1), missing, cache);
    }
    const next: JsonValue | undefined = fieldOf(onlyJsonOf(current, segment, cache), segment);
    if (next === undefined) return { found: false, reason: reasonOf(current, segment) };
    current = next;
  }
  return { found: true, value: current };
}

function onlyJsonOf(value: JsonValue, segment: PathSegment, cache: StructureCache): JsonValue {
  if (segment.type !== "key" || !Array.isArray(value)) return value;
  const objects: JsonValue[] = [];
  for (const block of value) {
    if (!isJsonObject(block) || typeof block["type"] !== "string") return value;
    const { type, text } = block;
    const structure = type === "text" && typeof text === "string" ? cachedStructure(text, cache) : null;
    if (isJsonObject(structure)) objects.push(structure);
  }
  return objects.length === 1 && objects[0] !== undefined ? objects[0] : value;
}

function followAll(
  value: JsonValue,
  rest: readonly PathSegment[],
  missing: "fail" | "null",
  cache: StructureCache,
): Followed {
  const list = readAsList(value);
  if (!list) return { found: false, reason: `[*] needs a list, and there is ${kindOf(value)}` };
  const values: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const followed = followPath(item, rest, missing, cache);
    if (followed.found) values.push(followed.value);
    else if (missing === "null") values.push(null);
    else return { found: false, reason: `item ${index}: ${followed.reason}` };
  }
  return { found: true, value: values };
}

function fieldOf(value: JsonValue, segment: Exclude<PathSegment, { type: "all" }>): JsonValue | undefined {
  if (Array.isArray(value)) return segment.type === "index" ? value[segment.index] : undefined;
  if (!isJsonObject(value)) return undefined;
  const key = segment.type === "index" ? String(segment.index) : segment.key;
  if (Object.hasOwn(value, key)) return value[key];
  return segment.type === "index" ? readAsList(value)?.[segment.index] : undefined;
}

function reasonOf(value: JsonValue, segment: Exclude<PathSegment, { type: "all" }>): string {
  const name = segment.type === "index" ? `[${segment.index}]` : `"${segment.key}"`;
  if (Array.isArray(value)) return `there is no ${name} in a list of ${value.length}`;
  if (!isJsonObject(value)) return `there is no ${name} in ${kindOf(value)}`;
  const keys = Object.keys(value);
  const known = keys.slice(0, 10).join(", ") + (keys.length > 10 ? ", ..." : "");
  return `there is no ${name}; there is ${known === "" ? "an empty object" : known}`;
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value === "string" ? "text" : typeof value}`;
}
