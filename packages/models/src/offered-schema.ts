import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  withMeantValues,
} from "@planwright/plan";
import { cleanText } from "./prompts/clean-text.ts";

const MAX_DESCRIPTION = 120;
const MAX_VALUE = 120;
const MAX_ENTRIES = 60;
const MAX_DEPTH = 6;
/** Names of fields that every provider accepts. */
const FIELD_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** The value that is offered for one keyword; undefined when it cannot be offered unchanged. */
type Keep = (value: JsonValue, depth: number) => JsonValue | undefined;

const description: Keep = (value) => (typeof value === "string" ? cleanText(value, MAX_DESCRIPTION) : "");
const scalar: Keep = (value) => {
  if (typeof value === "object" && value !== null) return undefined;
  return typeof value === "string" && cleanText(value, MAX_VALUE) !== value ? undefined : value;
};
const fieldName: Keep = (value) => (typeof value === "string" && FIELD_NAME.test(value) ? value : undefined);
const schema: Keep = (value, depth) => (isJsonObject(value) ? schemaOf(value, depth - 1) : {});
const fields: Keep = (value, depth) => {
  if (!isJsonObject(value) || allOf(Object.keys(value), fieldName, depth) === undefined) return undefined;
  const inner = allOf(Object.values(value), schema, depth);
  return inner && Object.fromEntries(Object.keys(value).map((name, at) => [name, inner[at] ?? {}]));
};
const listOf =
  (keep: Keep): Keep =>
  (value, depth) =>
    Array.isArray(value) ? allOf(value, keep, depth) : undefined;

/**
 * Replaces common synonyms of types. Providers refuse types that JSON Schema does not have, so other unknown
 * types are not offered.
 */
const typesOf: Keep = (value) => {
  const types = jsonTypesOf(value);
  return types?.length === 1 ? types[0] : types && [...types];
};

const KEYWORDS: ReadonlyMap<string, Keep> = new Map([
  ["type", typesOf],
  ["properties", fields],
  ["required", listOf(fieldName)],
  ["items", schema],
  ["enum", listOf(scalar)],
  ["const", scalar],
  ["format", scalar],
  ["description", description],
  ["minimum", scalar],
  ["maximum", scalar],
  ["anyOf", listOf(schema)],
  ["oneOf", listOf(schema)],
]);

/**
 * The schema of a tool's arguments as a provider receives it: the keywords that restrict values, with
 * descriptions cleaned and cut as in prompts. Undefined when a field's name or an allowed value would have to
 * be changed or left out, because the model's arguments would then not fit the tool. Pure.
 */
export function offeredSchema(inputSchema: JsonObject): JsonObject | undefined {
  const kept = schemaOf(inputSchema, MAX_DEPTH);
  return kept && { type: "object", properties: {}, ...kept };
}

function schemaOf(value: JsonObject, depth: number): JsonObject | undefined {
  if (depth === 0) return undefined;
  const known = Object.entries(withMeantValues(value)).filter(([keyword]) => KEYWORDS.has(keyword));
  const kept = known.map(([keyword, inner]) => KEYWORDS.get(keyword)?.(inner, depth));
  if (kept.includes(undefined)) return undefined;
  return Object.fromEntries(known.map(([keyword], at) => [keyword, kept[at] ?? null]));
}

/** Undefined also for too many values. */
function allOf(values: readonly JsonValue[], keep: Keep, depth: number): JsonValue[] | undefined {
  if (values.length > MAX_ENTRIES) return undefined;
  const kept = values.map((value) => keep(value, depth));
  return kept.every((value) => value !== undefined) ? kept : undefined;
}
