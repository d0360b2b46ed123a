import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { type DraftStep, MAX_DEPENDENCIES } from "../document/draft-step.ts";
import { digitsOf, isJsonNumber, stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { isNoteName, plainName } from "./field-words.ts";
import { fromJsonText } from "./for-each-form.ts";
import type { Fields } from "./read-fields.ts";

/**
 * The explicit dependencies of a step, as written: steps or tools. null, false, `{}`, an empty text or list,
 * and -1 mean none; `[{step: "s1"}]` names a step as `["s1"]` does. Any other value gets a diagnostic.
 */
export function readDependencies(
  fields: Fields,
  step: DraftStep,
  diagnostics: DiagnosticCollector,
): string[] {
  const names = ["dependsOn", "after"].flatMap((field) => {
    const value = fields.get(field)?.value;
    if (value === undefined) return [];
    const read = namesIn(value);
    if (read && read.length <= MAX_DEPENDENCIES) return read;
    const message = `step ${step.id}: ${field} is a list of at most ${MAX_DEPENDENCIES} step ids, not ${cut(stringifyExactJson(value))}`;
    diagnostics.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
    return [];
  });
  return [...new Set(names)];
}

/** Undefined when the value does not name steps. */
function namesIn(value: JsonValue): string[] | undefined {
  const names: string[] = [];
  const form = fromJsonText(value);
  for (const item of Array.isArray(form) ? form : [form]) {
    const name = nameIn(item);
    if (name === undefined) return undefined;
    if (name !== "") names.push(name);
  }
  return names;
}

/** Empty when nothing is named. */
function nameIn(item: JsonValue): string | undefined {
  if (item === null || item === false || item === -1) return "";
  if (isJsonNumber(item)) return digitsOf(item);
  if (typeof item === "string") return item.trim();
  return isJsonObject(item) ? nameInObject(Object.entries(item)) : undefined;
}

const NAMES = new Set(["id", "step", "stepid", "tool", "toolname", "name"]);
/** Fields about the needed outputs; the references already define them. */
const WANTED = new Set(["field", "fields", "requiredfields", "outputs", "path"]);

/**
 * `{step: "s1", field: "_id"}` names s1. An object with any other field, such as a condition, names nothing.
 */
function nameInObject(entries: readonly (readonly [string, JsonValue])[]): string | undefined {
  if (entries.length === 0) return "";
  const named = entries.filter(([field]) => NAMES.has(plainName(field)));
  const isHarmless = entries.every(
    ([field]) => NAMES.has(plainName(field)) || WANTED.has(plainName(field)) || isNoteName(field),
  );
  const [first] = named;
  return isHarmless && first && typeof first[1] !== "object" ? nameIn(first[1]) : undefined;
}
