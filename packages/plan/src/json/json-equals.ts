import { compareNumbers, isExactNumber } from "./exact-json.ts";
import { isJsonObject, type JsonValue } from "./json.ts";

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
