import { compareNumbers, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { setOwn } from "../json/own-property.ts";
import { jsonTypesOf, withMeantValues } from "./schema-types.ts";

/** The keyword that counts applications of a subschema; see {@link prepareSchema}. */
export const COST_KEYWORD = "x-planwright-cost";

const MAX_NODES = 20_000;
const MAX_DEPTH = 100;

/** Keywords with schemas by name. */
export const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords with lists of schemas. */
export const SCHEMA_LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords with one schema. */
export const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/**
 * Keywords without subschemas, each with a check: a malformed keyword is left out instead of making the
 * schema unusable.
 */
const PLAIN: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ["enum", (value: JsonValue) => isList(value) && value.length > 0],
  ["const", () => true],
  ["required", isTextList],
  ["dependentRequired", (value: JsonValue) => isJsonObject(value) && Object.values(value).every(isTextList)],
  ["pattern", isText],
  ["format", isText],
  ["$anchor", isText],
  ["uniqueItems", (value: JsonValue) => typeof value === "boolean"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((name) => [name, isNumber] as const),
  ["multipleOf", (value: JsonValue) => isJsonNumber(value) && compareNumbers(value, 0) > 0],
  ...[
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
  ].map((name) => [name, (value: JsonValue) => Number.isInteger(value) && Number(value) >= 0] as const),
]);

/**
 * A schema of a tool is one document, in which a dynamic reference means the anchor with its name. (Ajv finds
 * an anchor only after it was evaluated, and checks the complete document instead.)
 */
const IN_ONE_DOCUMENT: ReadonlyMap<string, string> = new Map([
  ["$dynamicRef", "$ref"],
  ["$recursiveRef", "$ref"],
  ["$dynamicAnchor", "$anchor"],
]);

function isText(value: JsonValue): value is string {
  return typeof value === "string";
}
function isNumber(value: JsonValue): boolean {
  return isJsonNumber(value);
}
function isList(value: JsonValue | undefined): value is JsonValue[] {
  return Array.isArray(value);
}
function isTextList(value: JsonValue): boolean {
  return isList(value) && value.every(isText);
}

/**
 * An untrusted schema, rebuilt from the known keywords as JSON Schema 2020-12: lists in `items` become
 * `prefixItems`; malformed keywords, `$id` and `$schema` are left out; types have their usual meaning. Each
 * subschema gets {@link COST_KEYWORD}, which can stop an evaluation with exponential cost. Undefined when it
 * is not a schema, or is too large or too deep.
 */
export function prepareSchema(schema: JsonValue): JsonObject | undefined {
  let nodes = 0;

  function prepare(value: JsonValue, depth: number): JsonObject | boolean | undefined {
    if (typeof value === "boolean") return value;
    if (!isJsonObject(value) || depth > MAX_DEPTH || ++nodes > MAX_NODES) return undefined;
    const prepared: JsonObject = { [COST_KEYWORD]: true };
    const meant = withMeantValues(value);
    for (const written of Object.keys(meant)) {
      const keyword = IN_ONE_DOCUMENT.get(written) ?? written;
      if (!prepareKeyword(prepared, keyword, meant[written] ?? null, depth, meant)) return undefined;
    }
    return prepared;
  }

  function prepareKeyword(
    into: JsonObject,
    keyword: string,
    operand: JsonValue,
    depth: number,
    parent: JsonObject,
  ): boolean {
    if (keyword === "$ref" && typeof operand === "string") {
      // Ajv does not find an anchor at the root.
      into["$ref"] = isRootAnchor(operand) ? "#" : operand;
    } else if (keyword === "type") {
      const types = jsonTypesOf(operand);
      if (types) into["type"] = types.length === 1 ? (types[0] ?? "null") : [...types];
    } else if (keyword === "items" && isList(operand)) {
      const list = prepareList(operand, depth);
      const rest = prepare(parent["additionalItems"] ?? true, depth + 1);
      if (!list || rest === undefined) return false;
      if (list.length > 0) into["prefixItems"] = list;
      into["items"] = rest;
    } else if (SCHEMAS.has(keyword)) {
      const inner = prepare(operand, depth + 1);
      if (inner === undefined) return false;
      into[keyword] = inner;
    } else if (SCHEMA_LISTS.has(keyword)) {
      const list = isList(operand) ? prepareList(operand, depth) : undefined;
      if (!list) return false;
      if (list.length > 0) into[keyword] = list;
    } else if (SCHEMA_MAPS.has(keyword)) {
      if (!isJsonObject(operand)) return false;
      const map: JsonObject = {};
      for (const key of Object.keys(operand)) {
        const inner = prepare(operand[key] ?? null, depth + 1);
        if (inner === undefined) return false;
        if (key !== "__proto__") setOwn(map, key, inner);
      }
      into[keyword] = map;
    } else if (PLAIN.get(keyword)?.(operand)) {
      into[keyword] = operand;
    }
    return true;
  }

  function prepareList(list: JsonValue[], depth: number): (JsonObject | boolean)[] | undefined {
    const prepared: (JsonObject | boolean)[] = [];
    for (const item of list) {
      const inner = prepare(item, depth + 1);
      if (inner === undefined) return undefined;
      prepared.push(inner);
    }
    return prepared;
  }

  function isRootAnchor(reference: string): boolean {
    const names = isJsonObject(schema) ? [schema["$dynamicAnchor"], schema["$anchor"]] : [];
    return names.some((name) => typeof name === "string" && reference === `#${name}`);
  }

  const prepared = prepare(schema, 0);
  return isJsonObject(prepared) ? prepared : undefined;
}
