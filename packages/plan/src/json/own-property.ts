/** Names that reach into an object's prototype; refused wherever a name comes from outside. */
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

/** What a map or a plain object holds under a name of its own. */
export type Lookup<Value> = ReadonlyMap<string, Value> | Readonly<Record<string, Value>>;

/** Reads a {@link Lookup}; inherited properties of a plain object do not count. */
export function lookUp<Value>(lookup: Lookup<Value>, key: string): Value | undefined {
  if (isMap(lookup)) return lookup.get(key);
  return Object.hasOwn(lookup, key) ? lookup[key] : undefined;
}

function isMap<Value>(lookup: Lookup<Value>): lookup is ReadonlyMap<string, Value> {
  return lookup instanceof Map;
}
