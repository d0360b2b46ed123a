import type { JsonObject, JsonValue } from "../json/json.ts";
import { isJsonObject } from "../json/json.ts";
import { secretNameOf } from "../secrets/secret.ts";
import { createQueryWords, type QueryWords } from "./query-words.ts";

/** The facts that a caller sends with each request: a model has not invented their values. */
export interface FactValues extends QueryWords {
  /** True when a value stands there, by itself or as words of a text. */
  gives(value: string | number): boolean;
  /** Names of secrets that stand there as `secret://name`. */
  readonly secrets: ReadonlySet<string>;
}

/** Prepares facts. Only their values count, not their names. */
export function createFactValues(facts: JsonObject | undefined): FactValues {
  const values = new Set<string | number>();
  const secrets = new Set<string>();
  const add = (value: JsonValue): void => {
    if (typeof value === "string") {
      values.add(value);
      const secret = secretNameOf(value);
      if (secret !== undefined) secrets.add(secret);
    } else if (typeof value === "number") values.add(value);
    else if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) Object.values(value).forEach(add);
  };
  add(facts ?? {});
  const words = createQueryWords([...values].join("\n,\n"));
  const contains = (text: string): boolean => values.size > 0 && words.contains(text);
  return {
    contains,
    gives: (value) => values.has(value) || (typeof value === "string" && contains(value)),
    secrets,
  };
}
