/** Stands in suggested commands and actions for a value that only the user knows. */
export const PLACEHOLDER = "…";

/** True for a value in which a placeholder was left, as a value or as the name of a field. Pure. */
export function hasPlaceholder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === PLACEHOLDER;
  return Object.hasOwn(value, PLACEHOLDER) || Object.values(value).some(hasPlaceholder);
}
