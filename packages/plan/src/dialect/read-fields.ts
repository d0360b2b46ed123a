import type { z } from "zod";
import {
  cut,
  type DiagnosticCollector,
  didYouMean,
  type Where,
} from "../diagnostics/diagnostic-collector.ts";
import { plainName } from "../document/field-words.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { jsonEquals } from "../json/json-equals.ts";

/**
 * Field names by canonical field, the canonical name first. Spellings that differ only in case or separators
 * need no entry.
 */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

/**
 * Fields under their canonical names. A null field counts as absent: structured model output cannot leave
 * fields out.
 */
export type Fields = ReadonlyMap<string, { readonly value: JsonValue; readonly name: string }>;

/** A field that no dialect defines. */
export interface UnknownField {
  readonly name: string;
  readonly value: JsonValue;
}

/** The known and unknown fields of an object. */
export interface ReadFields {
  readonly fields: Fields;
  readonly unknown: readonly UnknownField[];
}

/**
 * Reads the fields of an object under any of their names. A field with two different values gets a
 * diagnostic.
 */
export function readFields(
  object: JsonObject,
  names: FieldNames,
  where: Where,
  diagnostics: DiagnosticCollector,
): ReadFields {
  const canonical = canonicalNames(names);
  const fields = new Map<string, { value: JsonValue; name: string }>();
  const unknown: UnknownField[] = [];
  for (const name of Object.keys(object)) {
    const value = object[name] ?? null;
    if (value === null) continue;
    const field = canonical.get(plainName(name));
    const before = field === undefined ? undefined : fields.get(field);
    if (field === undefined) unknown.push({ name, value });
    else if (!before) fields.set(field, { value, name });
    else if (!jsonEquals(before.value, value)) {
      const message = `${before.name} and ${name} mean the same field; keep one of them`;
      diagnostics.add("FIELD_CONFLICT", at(where, name), { message });
    }
  }
  return { fields, unknown };
}

/** Adds the diagnostic for a field that does not exist. */
export function unknownField(
  name: string,
  known: Iterable<string>,
  where: Where,
  diagnostics: DiagnosticCollector,
): void {
  const suggestion = diagnostics.nearest(name, known);
  const of = where.step ? `step ${where.step.id}` : "the plan";
  const message = `${of} has no field ${cut(name)}${didYouMean(suggestion)}`;
  diagnostics.add("FIELD_UNKNOWN", at(where, cut(name)), { message, suggestion });
}

/** Adds diagnostics for the issues of a zod schema. @param known - names of fields, for suggestions */
export function addIssues(
  error: z.ZodError,
  where: Where,
  known: Iterable<string>,
  diagnostics: DiagnosticCollector,
): void {
  for (const issue of error.issues) {
    const place = at(where, ...issue.path.map((key) => (typeof key === "number" ? key : String(key))));
    if (issue.code === "unrecognized_keys") {
      for (const name of issue.keys) unknownField(name, known, place, diagnostics);
      continue;
    }
    const of = where.step ? `step ${where.step.id}: ` : "";
    diagnostics.add("FIELD_INVALID", place, { message: `${of}${place.keys?.join(".")}: ${issue.message}` });
  }
}

/** The location below these keys. */
export function at(where: Where, ...keys: (string | number)[]): Where {
  return { ...where, keys: [...(where.keys ?? []), ...keys] };
}

const known = new WeakMap<FieldNames, ReadonlyMap<string, string>>();

/** Canonical fields by their names in plain form. */
function canonicalNames(names: FieldNames): ReadonlyMap<string, string> {
  let map = known.get(names);
  if (!map) {
    map = new Map(
      Object.entries(names).flatMap(([field, all]) => all.map((name) => [plainName(name), field] as const)),
    );
    known.set(names, map);
  }
  return map;
}
