import { createHash } from "node:crypto";
import { compareNumbers, isExactNumber } from "./exact-json.ts";
import { isJsonObject, type JsonValue } from "./json.ts";

/**
 * JSON text with sorted names in each object and no white space, so that equal values give equal bytes.
 * Values that are not JSON are handled as in JSON.stringify: fields without a value are left out.
 * @param onContainer - called for each object and list; may throw, to limit the work for a hostile value
 * @see RFC 8785, whose forms of numbers and texts, and whose order of names, are those of ECMAScript
 */
export function canonicalJson(value: unknown, onContainer?: () => void): string {
  if (hasToJson(value)) return canonicalJson(value.toJSON(), onContainer);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  onContainer?.();
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, onContainer)).join(",")}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field, onContainer)}`);
  return `{${fields.join(",")}}`;
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of a text that is given in parts. */
export function sha256OfParts(parts: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** SHA-256 of the canonical JSON of a value, in hexadecimal: equal values have equal digests. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** True when two values are equal JSON: the order of keys does not matter, 0 equals -0, exact numbers are equal in
 * any notation. Without recursion. */
export function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  const pending: [JsonValue, JsonValue][] = [[left, right]];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [one, other] = pair;
    if (one === other) continue;
    if (Array.isArray(one)) {
      if (!Array.isArray(other) || one.length !== other.length) return false;
      for (const [index, item] of one.entries()) pending.push([item, other[index] ?? null]);
    } else if (isJsonObject(one) && isJsonObject(other)) {
      const keys = Object.keys(one);
      if (keys.length !== Object.keys(other).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(other, key)) return false;
        pending.push([one[key] ?? null, other[key] ?? null]);
      }
    } else if (!isExactNumber(one) || !isExactNumber(other) || compareNumbers(one, other) !== 0) {
      return false;
    }
  }
  return true;
}
