import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";

const JSON_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
/** A type of JSON Schema. */
export type JsonType = (typeof JSON_TYPES)[number];

/**
 * JSON types by type names of other languages, in lower case. Names that mean any type have an empty list.
 */
const FOREIGN: ReadonlyMap<string, readonly JsonType[]> = new Map(
  Object.entries({
    string:
      "str text varchar char character uuid guid date datetime date-time time timestamp url uri email path enum bytes",
    number: "float double decimal num numeric real float32 float64",
    integer: "int long short bigint int32 int64 uint uint32 uint64",
    boolean: "bool",
    object: "dict dictionary map mapping hash hashmap record struct json",
    array: "list tuple set sequence vector arraylist iterable frozenset",
    null: "none nonetype nil void undefined",
  }).flatMap(([type, names]) =>
    names
      .split(" ")
      .map((name): [string, readonly JsonType[]] => [name, JSON_TYPES.filter((one) => one === type)]),
  ),
);
const MAX_NAME = 200;
const MAX_PARTS = 20;

/** True for a type name of JSON Schema. */
export function isJsonType(name: JsonValue | undefined): name is JsonType {
  return JSON_TYPES.some((type) => type === name);
}

/**
 * The JSON types that the operand of `type` means: a name or a list of names, of JSON Schema or of another
 * language (`float`, `dict`, `String`, `list[int]`, `Optional[str]`, `int | None`). Undefined when any type
 * is possible.
 */
export function jsonTypesOf(operand: JsonValue | undefined): readonly JsonType[] | undefined {
  const names = (Array.isArray(operand) ? operand : [operand]).filter((name) => typeof name === "string");
  const types = names.slice(0, MAX_PARTS).map(typesOfName);
  if (types.length === 0) return undefined;
  const known = types.flatMap((each) => each ?? []);
  return types.includes(undefined) ? undefined : [...new Set(known)];
}

function typesOfName(name: string): readonly JsonType[] | undefined {
  if (isJsonType(name)) return [name];
  if (name.length > MAX_NAME) return undefined;
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/^typing\./, "");
  const optional = /^optional\[(.*)\]$/.exec(plain)?.[1];
  if (optional !== undefined) return withNull(typesOfName(optional));
  if (plain.endsWith("?")) return withNull(typesOfName(plain.slice(0, -1)));
  if (plain.endsWith("[]")) return ["array"];
  const choices = /^union\[(.*)\]$/.exec(plain)?.[1]?.split(",") ?? plain.split("|");
  if (choices.length > 1 && !/[[<]/.test(choices.join("")))
    return jsonTypesOf(choices.map((each) => each.trim()));
  const [base = ""] = plain.split(/[[<(]/);
  return isJsonType(base) ? [base] : FOREIGN.get(base);
}

function withNull(types: readonly JsonType[] | undefined): readonly JsonType[] | undefined {
  return types && [...types, "null"];
}

/** A type name that JSON Schema does not define, and how it is read. */
export interface ForeignType {
  readonly name: string;
  /** Undefined: any type. */
  readonly readAs: readonly JsonType[] | undefined;
}

/** Maximum numbers of parts of one schema that are read, and of reported names. */
const MAX_NODES = 20_000;
const MAX_TOLD = 10;
const known = new WeakMap<JsonObject, readonly ForeignType[]>();

/** The type names in a schema that JSON Schema does not define, each once. */
export function foreignTypesOf(schema: JsonObject): readonly ForeignType[] {
  let found = known.get(schema);
  if (!found) {
    found = gather(schema);
    known.set(schema, found);
  }
  return found;
}

/** Keywords with schemas by name: there a field named `type` is not a keyword. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose operands are values. */
const VALUES = new Set(["enum", "const", "default", "examples", "example"]);

function gather(schema: JsonObject): ForeignType[] {
  const found = new Map<string, ForeignType>();
  const pending: JsonValue[] = [schema];
  for (let seen = 0; seen < MAX_NODES && found.size < MAX_TOLD; seen++) {
    const next = pending.pop();
    if (next === undefined) break;
    if (Array.isArray(next)) pending.push(...next);
    if (!isJsonObject(next)) continue;
    const { type } = next;
    for (const name of Array.isArray(type) ? type : [type]) {
      if (typeof name === "string" && !isJsonType(name)) found.set(name, { name, readAs: jsonTypesOf(name) });
    }
    for (const [keyword, inner] of Object.entries(next)) {
      if (SCHEMA_MAPS.has(keyword) && isJsonObject(inner)) pending.push(...Object.values(inner));
      else if (!VALUES.has(keyword) && typeof inner === "object" && inner !== null) pending.push(inner);
    }
  }
  return [...found.values()];
}
