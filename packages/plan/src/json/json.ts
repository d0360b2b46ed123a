import { z } from "zod";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
/** A JSON object, such as the arguments of a tool call. */
export type JsonObject = { [key: string]: JsonValue };

/** Accepts any JSON value; numbers are finite. */
export const JsonValueSchema: z.ZodType<JsonValue> = z.json();
/** Accepts a JSON object. */
export const JsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), JsonValueSchema);

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Number of nested objects and lists: 0 for a text, 1 for `[]`. Without recursion, so safe for any value.
 * @param enough - deeper levels are not counted: then the result is one more
 */
export function depthOf(value: unknown, enough: number): number {
  let deepest = 0;
  const pending: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = pending.pop(); next && deepest <= enough; next = pending.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > deepest) deepest = depth;
    for (const item of Object.values(next.value)) {
      if (typeof item === "object" && item !== null) pending.push({ value: item, depth });
    }
  }
  return deepest;
}

/** JSON Schema 2020-12 of a shape as input: fields with a default may be left out. */
export function jsonSchemaOf(shape: z.ZodType): JsonObject {
  return JSON.parse(JSON.stringify(z.toJSONSchema(shape, { io: "input", target: "draft-2020-12" })));
}

/** Names that can change an object's prototype; refused for every external name. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Sets an own property, also one called `__proto__`, which an assignment would turn into a change of the
 * prototype.
 */
export function setOwn<Value>(target: { [key: string]: Value }, key: string, value: Value): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** A map, or a plain object of which only own properties count. */
export type Lookup<Value> = ReadonlyMap<string, Value> | Readonly<Record<string, Value>>;

/** Reads a {@link Lookup}; inherited properties of a plain object do not count. */
export function lookUp<Value>(lookup: Lookup<Value>, key: string): Value | undefined {
  if (isMap(lookup)) return lookup.get(key);
  return Object.hasOwn(lookup, key) ? lookup[key] : undefined;
}

function isMap<Value>(lookup: Lookup<Value>): lookup is ReadonlyMap<string, Value> {
  return lookup instanceof Map;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
]);

/** Removes one level of JSON escapes; a backslash before any other character is removed. */
export function unescapeText(raw: string): string {
  return raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined
        ? (ESCAPES.get(plain ?? "") ?? plain ?? "")
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Path of a value in its document, as a chain to the root; {@link placeKeys} gives the keys. */
export interface Place {
  readonly parent: Place | undefined;
  readonly key: string | number;
}

/** The keys from the root to a value. */
export function placeKeys(place: Place | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current = place; current; current = current.parent) keys.push(current.key);
  return keys.reverse();
}

interface Pending {
  source: JsonValue;
  into: JsonValue[] | JsonObject;
  place: Place;
}

/**
 * A deep copy in which each text is replaced by the result of `onText`. The copy shares nothing with the
 * source. Visits in document order, without recursion: only memory limits the depth.
 */
export function mapJson(
  value: JsonValue,
  onText: (text: string, place: Place | undefined) => JsonValue,
): JsonValue {
  if (typeof value !== "object" || value === null) {
    return typeof value === "string" ? onText(value, undefined) : value;
  }
  const pending: Pending[] = [];
  const copy = openCopy(value, undefined, pending);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { source, into, place } = next;
    put(
      into,
      place.key,
      typeof source === "string"
        ? onText(source, place)
        : typeof source === "object" && source !== null
          ? openCopy(source, place, pending)
          : source,
    );
  }
  return copy;
}

/** An empty copy of a container; pushes its children onto the stack, the first on top. */
function openCopy(
  source: JsonValue[] | JsonObject,
  place: Place | undefined,
  pending: Pending[],
): JsonValue[] | JsonObject {
  if (Array.isArray(source)) {
    const copy: JsonValue[] = [];
    for (let index = source.length - 1; index >= 0; index--) {
      pending.push({ source: source[index] ?? null, into: copy, place: { parent: place, key: index } });
    }
    return copy;
  }
  const copy: JsonObject = {};
  const keys = Object.keys(source);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? "";
    pending.push({ source: source[key] ?? null, into: copy, place: { parent: place, key } });
  }
  return copy;
}

function put(into: JsonValue[] | JsonObject, key: string | number, value: JsonValue): void {
  if (Array.isArray(into)) into.push(value);
  else setOwn(into, String(key), value);
}

/** Calls `onText` for each text in a value, in document order, without recursion. */
export function visitTexts(value: JsonValue, onText: (text: string, place: Place | undefined) => void): void {
  const pending: { value: JsonValue; place: Place | undefined }[] = [{ value, place: undefined }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: current, place } = next;
    if (typeof current === "string") onText(current, place);
    else if (Array.isArray(current)) {
      for (let index = current.length - 1; index >= 0; index--) {
        const item = current[index];
        if (mayHoldText(item)) pending.push({ value: item, place: { parent: place, key: index } });
      }
    } else if (typeof current === "object" && current !== null) {
      const keys = Object.keys(current);
      for (let index = keys.length - 1; index >= 0; index--) {
        const key = keys[index] ?? "";
        const item = current[key];
        if (mayHoldText(item)) pending.push({ value: item, place: { parent: place, key } });
      }
    }
  }
}

function mayHoldText(value: JsonValue | undefined): value is string | JsonValue[] | JsonObject {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/**
 * One segment of a path into a value: a field, an index (or a field with that number as its name), or all
 * items of a list.
 */
export type PathSegment =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "index"; readonly index: number }
  | { readonly type: "all" };

const PLAIN_KEY = /^[A-Za-z0-9_@-]+$/;
const NUMBER = /^[0-9]+$/;

/** The canonical text of a path: `.name`, `["any key"]`, `[0]`, `[*]`. */
function printPath(path: readonly PathSegment[]): string {
  return path.map(printSegment).join("");
}

function printSegment(segment: PathSegment): string {
  switch (segment.type) {
    case "all":
      return "[*]";
    case "index":
      return `[${segment.index}]`;
    case "key":
      return PLAIN_KEY.test(segment.key) && !NUMBER.test(segment.key)
        ? `.${segment.key}`
        : `[${JSON.stringify(segment.key)}]`;
  }
}

/** The canonical text of a reference: `<<createAuthor._id>>`. */
export function printReference(root: string, path: readonly PathSegment[]): string {
  return `<<${root}${printPath(path)}>>`;
}

/** A path in a document for people: `steps[2].arguments.authorId`; keys that are not names are quoted. */
export function printPlace(keys: readonly (string | number)[]): string {
  let text = "";
  for (const key of keys) {
    if (typeof key === "number") text += `[${key}]`;
    else if (!/^[A-Za-z0-9_$-]+$/.test(key)) text += `[${JSON.stringify(key)}]`;
    else text += text === "" ? key : `.${key}`;
  }
  return text;
}

/** The values by their keys, in their order. Node 20 has no `Map.groupBy`. */
export function groupBy<Key, Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
