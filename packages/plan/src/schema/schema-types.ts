import { isJsonObject, type JsonObject, type JsonValue, type PathSegment } from "../json/json.ts";

const JSON_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
/** A type of JSON Schema. */
type JsonType = (typeof JSON_TYPES)[number];

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

/**
 * A schema whose type excludes all values that it lists, by its usual meaning: `integer` with `"1"` and `"2"`
 * lists numbers, `string` with 1 and 2 lists texts, and `integer` with `"low"` lists texts, whatever the type
 * says. Any other schema itself.
 */
export function withMeantValues(schema: JsonObject): JsonObject {
  const { type, enum: choices } = schema;
  const isConstant = !Array.isArray(choices) && Object.hasOwn(schema, "const");
  const listed = Array.isArray(choices) ? choices : isConstant ? [schema["const"] ?? null] : [];
  const values = listed.filter((value) => value !== null);
  const types = values.length === 0 || type === undefined ? undefined : jsonTypesOf(type);
  if (!types || types.length === 0 || values.some((value) => isOfType(value, types))) return schema;
  const read = listed.map((value) => (value === null ? null : asType(value, types)));
  const isReadable = read.every((value) => value !== undefined);
  const typesOfValues = [...new Set(listed.map(typeOfValue))];
  return {
    ...schema,
    type: isReadable ? [...types] : typesOfValues,
    ...(isConstant ? { const: isReadable ? (read[0] ?? null) : (listed[0] ?? null) } : {}),
    ...(isConstant ? {} : { enum: isReadable ? read.filter((value) => value !== undefined) : listed }),
  };
}

function typeOfValue(value: JsonValue): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "object") return "object";
  return typeof value === "string" ? "string" : typeof value === "number" ? "number" : "boolean";
}

function isOfType(value: JsonValue, types: readonly JsonType[]): boolean {
  const type = typeOfValue(value);
  return types.includes(type) || (Number.isInteger(value) && types.includes("integer"));
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
const NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;

/** A listed text as a value of another type, or a listed value as text; undefined when it is neither. */
function asType(value: JsonValue, types: readonly JsonType[]): JsonValue | undefined {
  if (typeof value !== "string") {
    return types.includes("string") && typeof value !== "object" ? String(value) : undefined;
  }
  const number = NUMBER.test(value) ? Number(value) : undefined;
  if (number !== undefined && isOfType(number, types)) return number;
  return types.includes("boolean") ? BOOLEANS.get(value.toLowerCase()) : undefined;
}

/** The schemas of a listed tool, or why it cannot be used. */
type ListedSchemas =
  | {
      readonly ok: true;
      readonly inputSchema: JsonObject;
      /** Absent: the tool declares none. */
      readonly outputSchema?: JsonObject;
      /** What was read by its usual meaning, one sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the schemas of a tool as a server lists them. The type of the root may be written in another way than
 * `"object"` (`"OBJECT"`, `["object", "null"]`, `"dict"`, null), and an output schema that is null or `true`
 * declares nothing: both are read by their usual meaning, with a warning.
 */
export function readListedSchemas(tool: { inputSchema?: unknown; outputSchema?: unknown }): ListedSchemas {
  const { inputSchema, outputSchema } = tool;
  if (inputSchema === undefined || inputSchema === null)
    return { ok: false, problem: 'it has no inputSchema; a tool without parameters has {"type": "object"}' };
  if (!isJsonObject(inputSchema))
    return { ok: false, problem: "its inputSchema is not the schema of an object" };
  const input = withObjectType("inputSchema", inputSchema);
  if (!input) {
    const type = JSON.stringify(inputSchema["type"]).slice(0, 60);
    return { ok: false, problem: `its inputSchema is not the schema of an object: its type is ${type}` };
  }
  if (outputSchema === undefined) return { ok: true, inputSchema: input.schema, warnings: input.warnings };
  if (outputSchema === null || outputSchema === true) {
    const warning = `its outputSchema is ${String(outputSchema)}: read as none`;
    return { ok: true, inputSchema: input.schema, warnings: [...input.warnings, warning] };
  }
  if (!isJsonObject(outputSchema)) return { ok: false, problem: "its outputSchema is not a schema" };
  // An output may be of any type.
  const output = withObjectType("outputSchema", outputSchema) ?? { schema: outputSchema, warnings: [] };
  const warnings = [...input.warnings, ...output.warnings];
  return { ok: true, inputSchema: input.schema, outputSchema: output.schema, warnings };
}

/** The schema with the type `object` at its root; undefined when its root has another type. */
function withObjectType(
  field: string,
  schema: JsonObject,
): { schema: JsonObject; warnings: string[] } | undefined {
  const { type, ...rest } = schema;
  if (type === undefined || type === "object") return { schema, warnings: [] };
  const types = type === null ? ["object"] : jsonTypesOf(type);
  if (!types?.includes("object")) return undefined;
  const warning = `the type of its ${field} is ${JSON.stringify(type).slice(0, 60)}: read as "object"`;
  return { schema: { type: "object", ...rest }, warnings: [warning] };
}

/** A type name that JSON Schema does not define, or a type that excludes all listed values. */
export interface ForeignType {
  readonly name: string;
  /** Undefined: any type. */
  readonly readAs: readonly JsonType[] | undefined;
  /** The listed values as they are read, when the type excludes the written ones. */
  readonly values?: readonly JsonValue[] | undefined;
}

/** Maximum numbers of parts of one schema that are read, and of reported names. */
const MAX_NODES = 20_000;
const MAX_TOLD = 10;
const known = new WeakMap<JsonObject, readonly ForeignType[]>();

/** The type names in a schema that JSON Schema does not define, and those that exclude all listed values, each once. */
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
    const meant = withMeantValues(next);
    if (meant !== next) {
      const name = (Array.isArray(type) ? type : [type]).map(String).join(" or ");
      const values = Array.isArray(meant["enum"]) ? meant["enum"] : [meant["const"] ?? null];
      found.set(JSON.stringify([name, values]), { name, readAs: jsonTypesOf(meant["type"]), values });
    }
    for (const [keyword, inner] of Object.entries(next)) {
      if (SCHEMA_MAPS.has(keyword) && isJsonObject(inner)) pending.push(...Object.values(inner));
      else if (!VALUES.has(keyword) && typeof inner === "object" && inner !== null) pending.push(inner);
    }
  }
  return [...found.values()];
}

/** The information of a schema about a path. */
export type SchemaAtPath =
  /** Alternative schemas of the value. */
  | { readonly type: "known"; readonly schemas: readonly JsonValue[] }
  /** The schema does not restrict the value. */
  | { readonly type: "open" }
  /** The schema has no such path: `closed` means that it cannot exist, otherwise it is only not declared. */
  | {
      readonly type: "absent";
      readonly closed: boolean;
      readonly key: string;
      readonly declared: readonly string[];
    };

const MAX_ALTERNATIVES = 64;
const MAX_HOPS = 32;
const OPEN: SchemaAtPath = { type: "open" };

/**
 * Follows a path through a schema with local `$ref`, `allOf`, `anyOf`, `oneOf`. When the result is uncertain,
 * it is open.
 */
export function schemaAtPath(schema: JsonObject, path: readonly PathSegment[]): SchemaAtPath {
  let current: readonly JsonValue[] = [schema];
  for (const segment of path) {
    const next: JsonValue[] = [];
    let absent: (SchemaAtPath & { type: "absent" }) | undefined;
    for (const alternative of alternativesOf(current, schema)) {
      const found = stepInto(alternative, segment);
      if (found.type === "open") return OPEN;
      if (found.type === "known") next.push(...found.schemas);
      else if (!absent || absent.closed) absent = found;
    }
    if (next.length === 0) return absent ?? OPEN;
    if (next.length > MAX_ALTERNATIVES) return OPEN;
    current = next;
  }
  return { type: "known", schemas: alternativesOf(current, schema) };
}

/**
 * The JSON types that values of these schemas can have; undefined when they are not restricted. `integer` is
 * a separate type.
 */
export function typesOfSchemas(schemas: readonly JsonValue[]): ReadonlySet<string> | undefined {
  const types = new Set<string>();
  for (const schema of schemas) {
    const own = typesOf(schema);
    if (!own) return undefined;
    for (const type of own) types.add(type);
  }
  return types.size === 0 ? undefined : types;
}

/** True when a value of one of the first types can have one of the second types. */
export function typesOverlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const widened = new Set(others);
  if (others.has("integer")) widened.add("number");
  if (others.has("number")) widened.add("integer");
  return [...some].some((type) => widened.has(type));
}

function typesOf(schema: JsonValue): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, enum: values } = withMeantValues(schema);
  const types = jsonTypesOf(type);
  if (types) return types;
  // An unknown type may be any type.
  if (type !== undefined) return undefined;
  if (Object.hasOwn(schema, "const")) return [jsonType(schema["const"] ?? null)];
  if (Array.isArray(values) && values.length > 0) return values.map(jsonType);
  return undefined;
}

function jsonType(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/**
 * The alternatives, with references resolved and `anyOf`, `oneOf` expanded. {@link stepInto} handles `allOf`.
 */
function alternativesOf(schemas: readonly JsonValue[], root: JsonObject): JsonValue[] {
  const found: JsonValue[] = [];
  const pending = schemas.map((schema) => ({ schema, hops: 0 }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { schema, hops } = next;
    if (found.length > MAX_ALTERNATIVES || hops > MAX_HOPS) return [true];
    if (!isJsonObject(schema)) {
      found.push(schema);
      continue;
    }
    const { $ref, anyOf, oneOf, ...own } = schema;
    if (typeof $ref === "string") {
      pending.push({ schema: localTarget($ref, root) ?? true, hops: hops + 1 });
    } else if (Array.isArray(anyOf) || Array.isArray(oneOf)) {
      const inner = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
      if (pending.length + inner.length > MAX_ALTERNATIVES) return [true];
      const hasOwn = isJsonObject(own["properties"]);
      for (const schema of inner) {
        pending.push({ schema: hasOwn ? { allOf: [own, schema] } : schema, hops: hops + 1 });
      }
    } else if (Array.isArray(schema["allOf"])) {
      const merged = mergeAll(schema["allOf"], own, root);
      if (merged) found.push(merged);
      else return [true];
    } else found.push(schema);
  }
  return found;
}

/** `allOf` of plain object schemas as one schema; undefined when they are not plain. */
function mergeAll(parts: readonly JsonValue[], own: JsonObject, root: JsonObject): JsonObject | undefined {
  const { allOf: _, ...rest } = own;
  const merged: JsonObject = {};
  const properties: JsonObject = {};
  for (const part of [rest, ...parts]) {
    const target =
      isJsonObject(part) && typeof part["$ref"] === "string" ? localTarget(part["$ref"], root) : part;
    if (!isJsonObject(target)) return undefined;
    if (["$ref", "anyOf", "oneOf", "allOf", "if", "not"].some((name) => Object.hasOwn(target, name)))
      return undefined;
    Object.assign(merged, target);
    if (isJsonObject(target["properties"])) Object.assign(properties, target["properties"]);
  }
  return { ...merged, properties };
}

function localTarget(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let current: JsonValue = root;
  for (const token of reference.slice(2).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Array.isArray(current) ? (current[Number(key)] ?? null) : (current[key] ?? null);
  }
  return current;
}

function stepInto(schema: JsonValue, segment: PathSegment): SchemaAtPath {
  if (schema === false) return { type: "absent", closed: true, key: keyOf(segment), declared: [] };
  if (!isJsonObject(schema)) return OPEN;
  const types = typesOf(schema);
  // A text may be JSON of a structure, which a path can enter.
  if (types?.includes("string")) return OPEN;
  const canBeList = types === undefined || types.includes("array");
  const canBeObject = types === undefined || types.includes("object");
  if (segment.type === "all" || (segment.type === "index" && canBeList && !canBeObject)) {
    return canBeList ? itemSchema(schema, segment) : none(segment);
  }
  if (segment.type === "index" && canBeList) return OPEN;
  return canBeObject ? memberSchema(schema, keyOf(segment)) : none(segment);
}

function none(segment: PathSegment): SchemaAtPath {
  return { type: "absent", closed: true, key: keyOf(segment), declared: [] };
}

function keyOf(segment: PathSegment): string {
  if (segment.type === "all") return "[*]";
  return segment.type === "index" ? String(segment.index) : segment.key;
}

function itemSchema(schema: JsonObject, segment: PathSegment): SchemaAtPath {
  const { prefixItems, items } = schema;
  if (Array.isArray(prefixItems)) {
    const at = segment.type === "index" ? prefixItems[segment.index] : undefined;
    return at === undefined ? OPEN : { type: "known", schemas: [at] };
  }
  return isJsonObject(items) ? { type: "known", schemas: [items] } : OPEN;
}

function memberSchema(schema: JsonObject, key: string): SchemaAtPath {
  const { properties, additionalProperties, patternProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    return { type: "known", schemas: [properties[key] ?? true] };
  }
  if (isJsonObject(patternProperties)) return OPEN;
  if (isJsonObject(additionalProperties)) return { type: "known", schemas: [additionalProperties] };
  const declared = isJsonObject(properties) ? Object.keys(properties) : [];
  if (additionalProperties === false) return { type: "absent", closed: true, key, declared };
  if (additionalProperties === true || declared.length === 0) return OPEN;
  return { type: "absent", closed: false, key, declared };
}
