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
