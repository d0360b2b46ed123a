import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { fromJsonText } from "../json/parse-json.ts";
import { isNoteName, plainName } from "./field-words.ts";

/** A step, tool or provided field that must come before, and the fields of its output that are needed. */
export interface NamedDependency {
  readonly name: string;
  readonly fields: readonly string[];
}

/**
 * What a value names as dependencies, of a call and of a tool alike: one name or a list of them, also as JSON
 * text; each a text, a number, or an object such as `{step: "s1"}` or `{tool: "find", required_fields:
 * ["id"]}`. null, false, `{}`, an empty text or list, and -1 name nothing. Undefined for any other value.
 */
export function dependencyNames(value: JsonValue): NamedDependency[] | undefined {
  const form = fromJsonText(value);
  const named: NamedDependency[] = [];
  for (const item of Array.isArray(form) ? form : [form]) {
    const dependency = isJsonObject(item) ? namedInObject(Object.entries(item)) : dependencyOf(item);
    if (!dependency) return undefined;
    if (dependency.name !== "") named.push(dependency);
  }
  return named;
}

const NOTHING: NamedDependency = { name: "", fields: [] };

function dependencyOf(item: JsonValue): NamedDependency | undefined {
  if (item === null || item === false || item === -1) return NOTHING;
  if (isJsonNumber(item)) return { name: digitsOf(item), fields: [] };
  return typeof item === "string" ? { name: item.trim(), fields: [] } : undefined;
}

const NAMES = new Set(["id", "step", "stepid", "tool", "toolname", "name"]);
const FIELDS = new Set(["field", "fields", "requiredfields"]);
const WANTED = new Set([...FIELDS, "outputs", "path"]);

/**
 * `{step: "s1", field: "_id"}` names s1. An object with any other field, such as a condition, names nothing.
 */
function namedInObject(entries: readonly (readonly [string, JsonValue])[]): NamedDependency | undefined {
  if (entries.length === 0) return NOTHING;
  const named = entries.filter(([field]) => NAMES.has(plainName(field)));
  const isHarmless = entries.every(
    ([field]) => NAMES.has(plainName(field)) || WANTED.has(plainName(field)) || isNoteName(field),
  );
  const [first] = named;
  const dependency = isHarmless && first && typeof first[1] !== "object" ? dependencyOf(first[1]) : undefined;
  const wanted = entries.filter(([field]) => FIELDS.has(plainName(field))).flatMap(([, value]) => value);
  const fields = wanted.filter((field) => typeof field === "string");
  return dependency && { ...dependency, fields };
}
