import { exactAsText, isJsonObject, type JsonObject, type JsonValue, secretNameOf } from "@planwright/plan";
import { createQueryWords, type QueryWords } from "./query-words.ts";

/** The facts that a caller sends with each request. Their values are not invented by a model. */
export interface FactValues extends QueryWords {
  /** True when the facts contain a value, alone or inside a text. */
  gives(value: string | number): boolean;
  /** Names of secrets in the facts, written `secret://name`. */
  readonly secrets: ReadonlySet<string>;
}

/** Indexes the values of the facts; their names do not count. */
export function createFactValues(facts: JsonObject | undefined): FactValues {
  const values = new Set<string | number>();
  const secrets = new Set<string>();
  const add = (given: JsonValue): void => {
    const value = exactAsText(given);
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
