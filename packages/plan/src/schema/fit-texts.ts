import type { ErrorObject } from "ajv/dist/2020.js";
import { cut } from "../document/diagnostic.ts";
import {
  digitsOf,
  isExactNumber,
  isJsonNumber,
  isWholeNumber,
  stringifyExactJson,
} from "../json/exact-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathSegment,
  printPlace,
  setOwn,
} from "../json/json.ts";
import { type Resolved, type ResolveOptions, resolveReferences } from "../reference/resolve-references.ts";
import { checkAgainstSchema, keysOfPointer } from "./compile-schema.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "./schema-types.ts";
import { typeName } from "./validate-arguments.ts";

/** The path where a value is replaced by its JSON text, and the type of the value. */
interface FittedPlace {
  readonly keys: readonly (string | number)[];
  readonly type: string;
  /** The text in an object that contains only this text: `T-100` of `{"value": "T-100"}`. */
  readonly wrapped?: string | undefined;
}

/** Arguments that a tool accepts; the given object when nothing had to change. */
interface FittedArguments {
  readonly value: JsonObject;
  /** Empty when nothing was changed. */
  readonly places: readonly FittedPlace[];
}

type Keys = readonly (string | number)[];

/**
 * Resolves the references of a call's arguments to the types that its tool accepts. For an output that a tool
 * returned as JSON text, an argument that accepts texts but not the value's type gets the text as the tool
 * wrote it; any other argument gets the value. See {@link fitTexts} for other values.
 * @param schema - the tool's input schema; without one every argument gets the value
 * @throws {ReferenceError} like {@link resolveReferences}
 */
export function resolveArguments(
  args: JsonObject,
  options: Omit<ResolveOptions, "wantsText">,
  schema: JsonObject | undefined,
): Resolved<JsonObject> {
  return resolveReferences(args, schema ? { ...options, wantsText: textChooser(schema) } : options);
}

/**
 * Decides where the text is inserted. When both fit, the value is, except for a number in another notation,
 * such as `1e3` or `1.0`.
 */
function textChooser(schema: JsonObject): NonNullable<ResolveOptions["wantsText"]> {
  return (keys, value, text) => {
    const types = typesAt(schema, keys);
    if (!types?.has("string")) return false;
    if (!accepts(types, value) || (typeof value === "string" && !isExactNumber(value))) return true;
    return isJsonNumber(value) && digitsOf(value) !== text.trim();
  };
}

/**
 * Replaces numbers, booleans, objects and lists by their JSON text when a schema accepts texts but not such
 * values: a phone number written as a number, a complete output as the body of a message. Null stays null,
 * and values that the schema accepts do not change.
 *
 * One object is not put into a list for a parameter that takes lists of objects. An object that a tool returns
 * is as often an envelope, `{"items": [..], "total": 1}`, which fits the open schemas that most items have: the
 * call would act on a wrong item, where now it is refused with the name of the parameter before it is sent.
 * What says that the object is a list of one is not a guess: the output schema of the tool that returned it
 * (`readDeclaredOutput`), a path (`<<find[*]>>`, `<<find[0]>>`), or a forEach.
 */
export function fitTexts(schema: JsonObject, args: JsonObject): FittedArguments {
  const verdict = checkAgainstSchema(schema, args);
  if (!verdict.usable || verdict.errors.length === 0) return { value: args, places: [] };
  const places = misfits(schema, args, verdict.errors);
  if (places.length === 0) return { value: args, places };
  const fitted = structuredClone(args);
  for (const { keys } of places) replaceByText(fitted, keys);
  return { value: fitted, places };
}

/**
 * A warning for each path, for people. A tool rarely expects the JSON text of an object around one text; the
 * warning then suggests the inner text.
 */
export function fittedWarnings(tool: string, places: readonly FittedPlace[]): string[] {
  return places.slice(0, 20).map(({ keys, type, wrapped }) => {
    const hint = wrapped === undefined ? "" : `; write ${JSON.stringify(cut(wrapped))} alone`;
    return `${printPlace(keys)} is ${nameOf(type)}, and ${tool} takes a text: it gets the JSON text${hint}`;
  });
}

/** Paths of errors that the text of the value would not cause; of nested paths only the outermost. */
function misfits(schema: JsonObject, args: JsonObject, errors: readonly ErrorObject[]): FittedPlace[] {
  const pointers = new Set(
    errors.filter(({ keyword }) => BY_TYPE.has(keyword)).map((error) => error.instancePath),
  );
  const places: FittedPlace[] = [];
  const taken = new Set<string>();
  for (const pointer of [...pointers].toSorted((one, other) => one.length - other.length)) {
    const keys = keysOfPointer(pointer, args);
    const value = valueAt(args, keys);
    if (pointer === "" || value === undefined || value === null) continue;
    if (typeof value === "string" && !isExactNumber(value)) continue;
    if (isBelow(pointer, taken)) continue;
    const types = typesAt(schema, keys);
    if (!types?.has("string") || accepts(types, value)) continue;
    taken.add(pointer);
    places.push({ keys, type: typeName(value), wrapped: wrappedText(value) });
  }
  return places;
}

const WRAPPERS: ReadonlySet<string> = new Set(["value", "text", "string", "literal"]);

/** The text of `{"value": "T-100"}`, also with an additional `type`. */
function wrappedText(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name, ...others] = Object.keys(value).filter(
    (key) => key !== "type" || typeof value[key] !== "string",
  );
  const inner = name !== undefined && others.length === 0 && WRAPPERS.has(name) ? value[name] : undefined;
  return typeof inner === "string" ? inner : undefined;
}

const BY_TYPE = new Set(["type", "enum", "const"]);

function isBelow(pointer: string, taken: ReadonlySet<string>): boolean {
  for (let end = pointer.lastIndexOf("/"); end > 0; end = pointer.lastIndexOf("/", end - 1))
    if (taken.has(pointer.slice(0, end))) return true;
  return false;
}

function typesAt(schema: JsonObject, keys: Keys): ReadonlySet<string> | undefined {
  const found = schemaAtPath(schema, keys.map(toSegment));
  return found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
}

/** The path segment of a key. */
export function toSegment(key: string | number): PathSegment {
  return typeof key === "number" ? { type: "index", index: key } : { type: "key", key };
}

function accepts(types: ReadonlySet<string>, value: JsonValue): boolean {
  const type = typeName(value);
  return types.has(type) || (isWholeNumber(value) && types.has("integer"));
}

function valueAt(value: JsonValue, keys: Keys): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of keys) {
    if (Array.isArray(current)) current = typeof key === "number" ? current[key] : undefined;
    else current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current;
}

function replaceByText(root: JsonObject, keys: Keys): void {
  const holder = valueAt(root, keys.slice(0, -1));
  const last = keys.at(-1);
  const text = stringifyExactJson(valueAt(root, keys) ?? null);
  if (Array.isArray(holder)) holder[Number(last)] = text;
  else if (isJsonObject(holder)) setOwn(holder, String(last), text);
}

function nameOf(type: string): string {
  return type === "array" || type === "object" ? (type === "array" ? "a list" : "an object") : `a ${type}`;
}

/** A text in the arguments of a call. */
export interface ArgumentText {
  readonly text: string;
  /** The call requires it. */
  readonly isRequired: boolean;
  /** Path from the arguments to the text. */
  readonly keys: readonly (string | number)[];
  /** Name of its parameter or field. */
  readonly name: string;
  /** The schemas of the text. */
  readonly schemas: readonly JsonValue[];
}

/** Maximum number of values that are read in one call. */
const MAX_VALUES = 2_000;

/**
 * The texts in a call's arguments that any value may replace: those that it requires (required parameters, required
 * fields of required objects, and items of required lists), and with `optional` the other ones that the schema
 * declares. Texts whose schema lists the accepted values need no check.
 */
export function argumentTexts(
  schema: JsonObject,
  args: JsonObject,
  { optional }: { optional: boolean },
): ArgumentText[] {
  const found: ArgumentText[] = [];
  const pending: { value: JsonValue; keys: ArgumentText["keys"]; name: string; isRequired: boolean }[] = [
    { value: args, keys: [], name: "", isRequired: true },
  ];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = pending.pop();
    if (!next) break;
    const { value, keys, name, isRequired } = next;
    if (typeof value === "string") {
      const schemas = schemasOf(schemaAtPath(schema, keys.map(toSegment)));
      const isDeclared = isRequired || schemas.length > 0;
      if (isDeclared && takesAnyText(schemas)) found.push({ text: value, isRequired, keys, name, schemas });
    } else if (Array.isArray(value)) {
      const items = value
        .slice(0, MAX_VALUES)
        .map((item, index) => ({ ...next, value: item, keys: [...keys, index] }));
      pending.push(...items.toReversed());
    } else if (isJsonObject(value)) {
      const required = requiredNames(schemasOf(schemaAtPath(schema, keys.map(toSegment))));
      const names = optional
        ? [...required, ...Object.keys(value).filter((field) => !required.includes(field))]
        : required;
      const fields = names.flatMap((field, index) =>
        Object.hasOwn(value, field)
          ? [
              {
                value: value[field] ?? null,
                keys: [...keys, field],
                name: field,
                isRequired: isRequired && index < required.length,
              },
            ]
          : [],
      );
      pending.push(...fields.toReversed());
    }
  }
  return found;
}

/**
 * True for a value that the schema at its path lists, see {@link isListed}.
 * @param schema - of the arguments
 */
export function isListedAt(text: string, keys: readonly (string | number)[], schema: JsonObject): boolean {
  return isListed(text, schemasOf(schemaAtPath(schema, keys.map(toSegment))));
}

/**
 * True for a value that a schema lists: in `enum`, `const` or `default`, or the empty text by `minLength: 0`.
 */
export function isListed(text: string, schemas: readonly JsonValue[]): boolean {
  return schemas.some((schema) => {
    if (!isJsonObject(schema)) return false;
    const { enum: values, const: only, default: usual, minLength } = schema;
    const isOne = Array.isArray(values) && values.includes(text);
    return isOne || only === text || usual === text || (text === "" && minLength === 0);
  });
}

function schemasOf(found: SchemaAtPath): readonly JsonValue[] {
  return found.type === "known" ? found.schemas : [];
}

/** False when the schemas restrict the value by another type or a list of values. */
function takesAnyText(schemas: readonly JsonValue[]): boolean {
  const types = typesOfSchemas(schemas);
  if (types && !types.has("string")) return false;
  const isClosed = (schema: JsonValue) =>
    isJsonObject(schema) && (Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const"));
  return schemas.length === 0 || !schemas.every(isClosed);
}

/** Fields that all of the schemas require. */
function requiredNames(schemas: readonly JsonValue[]): string[] {
  const [first, ...others] = schemas.map((schema) => {
    const required = isJsonObject(schema) ? schema["required"] : undefined;
    return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  });
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}
