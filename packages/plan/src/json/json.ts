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
