/** Replaces values beyond the bound. */
export const OTHER = "other";

/**
 * Bounds the number of values of a metric's label, for names that come from outside: the first `max` distinct
 * values are kept, all others become "other". @param max - default 200
 */
export function createBoundedLabel(max = 200): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
