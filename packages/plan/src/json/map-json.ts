import type { JsonObject, JsonValue } from "./json.ts";
import { setOwn } from "./own-property.ts";

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
