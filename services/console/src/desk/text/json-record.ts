/** A JSON object whose fields are not known. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** True for a JSON object, not for a list. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
