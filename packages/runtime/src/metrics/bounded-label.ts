/** What takes the place of values that come too late. */
export const OTHER = "other";

/**
 * Keeps what a label of a metric may say finite, whatever names come from outside: the first `max` distinct values stay as they
 * are, later ones share "other". @param max - default 200
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
