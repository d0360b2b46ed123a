import type { JsonValue } from "@planwright/plan";

/**
 * JSON text with the names of each object sorted and nothing between tokens, so that equal values give equal bytes.
 * Fields that are `undefined` are left out, as JSON does.
 * @see RFC 8785, whose number and text forms are those of ECMAScript
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (typeof value !== "object" || value === null) return value as JsonValue | undefined;
  const result: { [key: string]: JsonValue } = Object.create(null);
  for (const [key, field] of Object.entries(value).toSorted(byName)) {
    const copy = sorted(field);
    if (copy !== undefined) result[key] = copy;
  }
  return result;
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
