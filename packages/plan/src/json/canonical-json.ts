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
