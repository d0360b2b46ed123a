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
