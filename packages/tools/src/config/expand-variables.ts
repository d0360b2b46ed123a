/** Variables that `${VAR}` in a servers file may name. */
export type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * A copy of a JSON value in which `${VAR}` and `${VAR:-default}` inside texts are replaced. Replaced text is
 * not expanded again. Names of fields stay as they are.
 * @param onMissing - called for each variable that is not set and has no default
 */
export function expandVariables(
  value: unknown,
  variables: Variables,
  onMissing: (variable: string, path: readonly (string | number)[]) => void,
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof value === "string") {
    return value.replace(VARIABLE, (_text, name: string, fallback: string | undefined) => {
      const found = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (found === undefined && fallback === undefined) onMissing(name, path);
      return found ?? fallback ?? "";
    });
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, variables, onMissing, [...path, index]));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      expandVariables(field, variables, onMissing, [...path, key]),
    ]),
  );
}
