import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { fractionOf } from "../../random/hash.ts";

/** Options of {@link sampleOutput}. */
export interface Sampling {
  /** Text by which the values differ from those of other calls. */
  salt: string;
  /** Leaves out optional fields and items of lists, as real outputs do. Default: all are present. */
  isPartial?: boolean;
}

const MAX_ITEMS = 2;

/** An output of a tool with this schema, complete or partial. The same input gives the same output. */
export function sampleOutput(schema: JsonValue | undefined, sampling: Sampling, path = ""): JsonValue {
  if (!isJsonObject(schema)) return null;
  const { type, properties, items } = schema;
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null;
  if (isJsonObject(properties)) return fieldsOf(properties, sampling, path);
  switch (Array.isArray(type) ? type[0] : type) {
    case "array":
      return itemsOf(items, sampling, path);
    case "string":
      return textOf(schema["format"], sampling, path);
    case "integer":
      return Math.floor(fractionOf(sampling.salt, path) * 1_000);
    case "number":
      return Math.floor(fractionOf(sampling.salt, path) * 1_000) + 0.5;
    case "boolean":
      return fractionOf(sampling.salt, path) < 0.5;
    case "object":
      return {};
    default:
      return null;
  }
}

function fieldsOf(properties: JsonObject, sampling: Sampling, path: string): JsonObject {
  const named = Object.entries(properties).filter(([name]) => isPresent(`${path}.${name}`, sampling));
  return Object.fromEntries(
    named.map(([name, inner]) => [name, sampleOutput(inner, sampling, `${path}.${name}`)]),
  );
}

/** A quarter of all fields are optional; each of these is present in a third of the outputs. */
function isPresent(path: string, { salt, isPartial }: Sampling): boolean {
  const field = path.replace(/\[\d+\]/g, "[]");
  return !isPartial || fractionOf("optional", field) >= 1 / 4 || fractionOf("there", path, salt) < 1 / 3;
}

function itemsOf(items: JsonValue | undefined, sampling: Sampling, path: string): JsonValue[] {
  const count = sampling.isPartial
    ? Math.floor(fractionOf("items", path, sampling.salt) * (MAX_ITEMS + 1))
    : MAX_ITEMS;
  return Array.from({ length: count }, (_, index) => sampleOutput(items, sampling, `${path}[${index}]`));
}

function textOf(format: JsonValue | undefined, { salt }: Sampling, path: string): string {
  const number = Math.floor(fractionOf(salt, path) * 100_000);
  if (format === "email" || path.endsWith("email")) return `m${number}@mail.test`;
  if (format === "date") return "2026-12-01";
  return format === "date-time" ? "2026-12-01T10:00:00Z" : `${path.slice(1)} ${number}`;
}
