/** Variables that `${VAR}` in a servers file may name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Placeholders of all clients: `$${` is the text `${`. */
const PLACEHOLDER = /\$\$\{|\$\{\{([^{}]*)\}\}|\$\{([^{}]*)\}/g;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const INPUT = /^input:\s*(\S.*?)\s*$/s;
/** A whole credential, with its scheme, that is a variable as shells and some clients write it. */
const WHOLE_VARIABLE =
  /^((?:Bearer|Basic|Token) +)?(?:\$([A-Z_][A-Z0-9_]*)|%([A-Z_][A-Z0-9_]*)%|\{env:([A-Za-z_][A-Za-z0-9_]*)\})$/i;
/** A whole credential, with its scheme, that a person was meant to replace. */
const TO_REPLACE =
  /^(?:(?:Bearer|Basic|Token) +)?(?:<[^<>]{1,80}>|\{\{[^{}]{1,80}\}\}|\[?(?:YOUR|INSERT|REPLACE)[_-][A-Z0-9_-]{1,80}\]?)$/i;

/** What an expansion needs. */
export interface Expansion {
  variables: Variables;
  /** What the file says about its inputs, by their ids. */
  inputs: ReadonlyMap<string, string>;
  /** Called for each placeholder that has no value, with what to do about it. */
  onProblem: (message: string, path: Path) => void;
}

type Path = readonly (string | number)[];

/**
 * A copy of a JSON value in which the placeholders in texts are replaced: `${VAR}` and `${env:VAR}`, both also
 * with a default (`${VAR:-default}`), `${input:id}` (from the variable INPUT_ID), `${userHome}`. In `env` and
 * `headers`, which hold credentials, also texts that are nothing but `$VAR`, `%VAR%` or `{env:VAR}`. An unknown
 * placeholder is a problem, so none is sent as a credential. Replaced text is not expanded again. Names of
 * fields stay as they are.
 */
export function expandVariables(value: unknown, expansion: Expansion, path: Path = []): unknown {
  if (typeof value === "string") return expandText(value, expansion, path);
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, expansion, [...path, index]));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, expandVariables(field, expansion, [...path, key])]),
  );
}

function expandText(text: string, expansion: Expansion, path: Path): string {
  const { onProblem } = expansion;
  const isCredential = path[0] === "env" || path[0] === "headers";
  if (isCredential && TO_REPLACE.test(text)) {
    onProblem(`${text} stands for a value; write the value, or \${NAME} for the variable NAME`, path);
    return "";
  }
  const whole = isCredential ? WHOLE_VARIABLE.exec(text) : null;
  if (whole) return `${whole[1] ?? ""}${valueOf(whole[2] ?? whole[3] ?? whole[4] ?? "", expansion, path)}`;
  return text.replace(PLACEHOLDER, (all, ofOthers: string | undefined, inside: string | undefined) => {
    if (inside !== undefined) return valueOf(inside, expansion, path);
    if (ofOthers === undefined) return "${";
    return unknownPlaceholder(all, expansion, path);
  });
}

/** The value for what stands inside a placeholder. */
function valueOf(inside: string, expansion: Expansion, path: Path): string {
  const { variables, inputs, onProblem } = expansion;
  const variableOf = (name: string) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const [, input] = INPUT.exec(inside) ?? [];
  if (input !== undefined) {
    const name = `INPUT_${input.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}`;
    const found = variableOf(name);
    const about = inputs.get(input);
    if (found === undefined)
      onProblem(
        `input ${input}${about ? ` (${about})` : ""} is not given; set the variable ${name} to it`,
        path,
      );
    return found ?? "";
  }
  const [, name, fallback] = VARIABLE.exec(inside) ?? [];
  if (name === undefined) return unknownPlaceholder(`\${${inside}}`, expansion, path);
  const found = variableOf(name) ?? (name === "userHome" ? variableOf("HOME") : undefined);
  if (found === undefined && fallback === undefined) onProblem(`variable ${name} is not set`, path);
  return found ?? fallback ?? "";
}

function unknownPlaceholder(text: string, { onProblem }: Expansion, path: Path): string {
  const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  onProblem(
    `placeholder ${shown} is not known; write \${NAME} for the variable NAME, or $\${ for the characters \${`,
    path,
  );
  return "";
}
