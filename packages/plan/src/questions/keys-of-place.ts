/** Maximum length of a path. */
const MAX_LENGTH = 4_000;

/**
 * The keys of a path in the form of diagnostics: `steps[2].arguments["a b"]` is `["steps", 2, "arguments", "a
 * b"]`. Undefined for an invalid path.
 */
export function keysOfPlace(place: string): (string | number)[] | undefined {
  if (place.length > MAX_LENGTH) return undefined;
  const keys: (string | number)[] = [];
  const part = /\.?([A-Za-z0-9_$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (part.lastIndex < place.length) {
    const found = part.exec(place);
    if (!found) return undefined;
    const [, name, index, quoted] = found;
    if (name !== undefined) keys.push(name);
    else if (index !== undefined) keys.push(Number(index));
    else keys.push(String(JSON.parse(quoted ?? '""')));
  }
  return keys;
}
