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
