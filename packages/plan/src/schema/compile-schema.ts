import { createHash } from "node:crypto";
import {
  Ajv2020,
  type ErrorObject,
  type KeywordErrorDefinition,
  str,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RE2JS } from "re2js";
import { CodedError } from "../document/diagnostic.ts";
import {
  canonicalJson,
  compareNumbers,
  digitsOf,
  type ExactNumber,
  isExactNumber,
  isJsonNumber,
  isMultipleOf,
  isWholeNumber,
  mapExact,
  nearestDouble,
} from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from "../json/json.ts";
import { jsonTypesOf, withMeantValues } from "./schema-types.ts";

/** The errors of a value (none when it is valid), or the reason why the schema cannot be used. */
type SchemaVerdict =
  | { readonly usable: true; readonly errors: readonly ErrorObject[] }
  | { readonly usable: false; readonly reason: string };

/** Maximum number of cached compiled schemas; the least recently used are removed. */
const MAX_COMPILED = 500;
const MAX_PATTERN_LENGTH = 2_000;
/**
 * Maximum cost of one validation: the number of applied subschemas, plus the length of texts that patterns
 * check.
 */
const MAX_COST = 500_000;

/** Stops a validation that costs too much; internal to this file. */
class SchemaTooCostlyError extends CodedError<{ maxCost: number }> {
  readonly code = "SCHEMA_TOO_COSTLY";
  readonly retryable = false;
}

// Validation is synchronous, so one counter for the running one is enough.
let cost = 0;
function spend(amount: number): true {
  cost += amount;
  if (cost > MAX_COST) throw new SchemaTooCostlyError("too costly", { maxCost: MAX_COST });
  return true;
}

/**
 * Untrusted patterns run in linear time. A pattern that this engine does not support (look-around) accepts
 * everything.
 */
const linearPatterns = Object.assign(
  (pattern: string) => {
    const compiled = compilePattern(pattern);
    return {
      test: (text: string) => spend(1 + text.length / 16) && (compiled?.matcher(text).find() ?? true),
      // Ajv caches patterns by this text: without it all patterns would be the first one.
      toString: () => JSON.stringify(pattern),
    };
  },
  { code: "linearPatterns" },
);

function compilePattern(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    logger: false,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    // A parameter may be called `constructor` or `toString`.
    ownProperties: true,
    code: { regExp: linearPatterns },
  });
  addFormats.default(ajv);
  // Ajv compares all pairs of items: 100,000 items would take minutes.
  ajv.removeKeyword("uniqueItems").addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (isUnique: boolean, items: JsonValue[]) => {
      if (!isUnique) return true;
      spend(items.length);
      const exact = exactOf(items);
      return !Array.isArray(exact) || new Set(exact.map(canonicalText)).size === items.length;
    },
  });
  const compared = (
    keyword: string,
    message: KeywordErrorDefinition["message"],
    comparison: (operand: JsonValue) => (value: JsonValue) => boolean,
  ) =>
    ajv.removeKeyword(keyword).addKeyword({
      keyword,
      errors: false,
      error: { message },
      compile: (operand: JsonValue) => {
        const holds = comparison(operand);
        return (value: JsonValue, at) => holds(exactOf(value, at));
      },
    });
  const valuesIn = (values: JsonValue[]) => {
    const texts = new Set(values.map(canonicalText));
    return (value: JsonValue) => texts.has(canonicalText(value));
  };
  compared("enum", "must be equal to one of the allowed values", (values) => valuesIn([values].flat()));
  compared("const", "must be equal to constant", (only) => valuesIn([only]));
  for (const [keyword, words, isFit] of NUMBER_KEYWORDS) {
    compared(
      keyword,
      ({ schema }) => str`must be ${words} ${isJsonNumber(schema) ? digitsOf(schema) : 0}`,
      (limit) => (value) => !isJsonNumber(value) || !isJsonNumber(limit) || isFit(value, limit),
    );
  }
  ajv.addKeyword({ keyword: COST_KEYWORD, schemaType: "boolean", errors: false, validate: () => spend(1) });
  return ajv;
}

type NumberCheck = (value: number | ExactNumber, limit: number | ExactNumber) => boolean;
/** The keywords for numbers, which compare exact numbers too: their words in a message, and when they hold. */
const NUMBER_KEYWORDS: readonly (readonly [keyword: string, words: string, isFit: NumberCheck])[] = [
  ["minimum", ">=", (value, limit) => compareNumbers(value, limit) >= 0],
  ["maximum", "<=", (value, limit) => compareNumbers(value, limit) <= 0],
  ["exclusiveMinimum", ">", (value, limit) => compareNumbers(value, limit) > 0],
  ["exclusiveMaximum", "<", (value, limit) => compareNumbers(value, limit) < 0],
  ["multipleOf", "multiple of", isMultipleOf],
];

/**
 * Ajv knows doubles only. A value with exact numbers is validated as a copy in which doubles of the same type
 * stand for them; keywords that compare values get the exact ones from here. The originals of the copied
 * objects and lists of the running validation; empty for almost all values.
 */
const NONE: ReadonlyMap<unknown, JsonValue> = new Map();
let originals = NONE;

/** The value that a copied value stands for. */
function exactOf(value: JsonValue, at?: Parameters<ValidateFunction>[1]): JsonValue {
  if (originals.size === 0) return value;
  if (typeof value !== "number") return originals.get(value) ?? value;
  const holder: object = Object(originals.get(at?.parentData));
  const original: unknown = at && Reflect.get(holder, at.parentDataProperty);
  return isExactNumber(original) ? original : value;
}

function isValid(validate: ValidateFunction, value: JsonValue): boolean {
  const copies = new Map<unknown, JsonValue>();
  // In an object, so that also an exact number alone has a holder.
  const holder = mapExact({ value }, doubleOf, (copy, original) => copies.set(copy, original));
  if (copies.size === 0) return validate(value) === true;
  originals = copies;
  try {
    const place = { instancePath: "", parentData: holder, parentDataProperty: "value", dynamicAnchors: {} };
    return validate(holder["value"], { ...place, rootData: holder }) === true;
  } finally {
    originals = NONE;
  }
}

/** A double of the same type: comparisons get the exact number. */
const doubleOf = (number: ExactNumber) => (isWholeNumber(number) ? nearestDouble(number) : 0.5);

/** Canonical JSON; its cost counts. */
function canonicalText(value: JsonValue): string {
  return canonicalJson(value, () => spend(1));
}

type Compiled = { validate: ValidateFunction; reason?: undefined } | { validate?: undefined; reason: string };

let shared: Ajv2020 | undefined;
let sharedUses = 0;
const byObject = new WeakMap<JsonObject, Compiled>();
const byDigest = new Map<string, Compiled>();

/**
 * Validates a value by a schema. A schema is compiled once for each digest, and cached by its identity so
 * that the digest is computed once. Never throws and never hangs, for any schema: a schema that cannot be
 * compiled, or costs too much, is unusable.
 */
export function checkAgainstSchema(schema: JsonObject, value: JsonValue): SchemaVerdict {
  const compiled = compiledSchema(schema);
  if (!compiled.validate) return { usable: false, reason: compiled.reason };
  cost = 0;
  try {
    return {
      usable: true,
      errors: isValid(compiled.validate, value) ? [] : (compiled.validate.errors ?? []),
    };
  } catch (error) {
    // An endlessly recursive schema exceeds the stack (RangeError) or the cost limit.
    return { usable: false, reason: reasonOf(error) };
  } finally {
    compiled.validate.errors = null;
  }
}

function compiledSchema(schema: JsonObject): Compiled {
  // Descriptors are untrusted: at run time the schema may have any type.
  if (!isJsonObject(schema)) return { reason: "it is not an object" };
  const known = byObject.get(schema);
  if (known) return known;
  const compiled = compileOnce(schema);
  byObject.set(schema, compiled);
  return compiled;
}

function compileOnce(schema: JsonObject): Compiled {
  cost = 0;
  try {
    const digest = createHash("sha256").update(JSON.stringify(schema)).digest("base64");
    const found = byDigest.get(digest);
    byDigest.delete(digest);
    const compiled = found ?? compile(schema);
    byDigest.set(digest, compiled);
    const [oldest] = byDigest.keys();
    if (byDigest.size > MAX_COMPILED && oldest !== undefined) byDigest.delete(oldest);
    return compiled;
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

function compile(schema: JsonObject): Compiled {
  const prepared = prepareSchema(schema);
  if (!prepared) return { reason: "it is not a JSON Schema, or larger than can be checked" };
  // An Ajv instance keeps names and patterns of everything that it ever compiled, so it is replaced
  // regularly.
  if (sharedUses++ % MAX_COMPILED === 0) shared = undefined;
  shared ??= createAjv();
  try {
    return { validate: shared.compile(prepared) };
  } catch (error) {
    return { reason: reasonOf(error) };
  } finally {
    shared.removeSchema(prepared);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SchemaTooCostlyError) return "checking against it costs too much";
  if (error instanceof RangeError) return "it refers to itself without end";
  return error instanceof Error ? error.message.slice(0, 200) : "it cannot be compiled";
}

/** The keys of an Ajv instance path, with list indexes as numbers. */
export function keysOfPointer(pointer: string, value: JsonValue): (string | number)[] {
  const keys: (string | number)[] = [];
  let current: JsonValue | undefined = value;
  for (const token of pointer.split("/").slice(1)) {
    const key: string = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(current)) {
      keys.push(Number(key));
      current = current[Number(key)];
    } else {
      keys.push(key);
      current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
    }
  }
  return keys;
}

/** The keyword that counts applications of a subschema; see {@link prepareSchema}. */
const COST_KEYWORD = "x-planwright-cost";

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
function prepareSchema(schema: JsonValue): JsonObject | undefined {
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
