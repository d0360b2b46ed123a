import type { ErrorObject } from "ajv/dist/2020.js";
import {
  cut,
  type Diagnostic,
  type DiagnosticCode,
  didYouMean,
  nearestName,
} from "../document/diagnostic.ts";
import { secretPlaces } from "../document/secret.ts";
import { isExactNumber, unmarkNumbers } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue, printPlace } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { outputUnexpected } from "../tools/tool-result.ts";
import { checkAgainstSchema, keysOfPointer } from "./compile-schema.ts";
import { schemaAtPath, typesOfSchemas } from "./schema-types.ts";

/** Maximum number of errors for the arguments of one call. */
export const MAX_PROBLEMS = 50;

/**
 * Validates resolved arguments by the tool's input schema: at most 50 errors, with paths like
 * `arguments.authorId`. A tool without a schema accepts any object. An unusable schema (not a schema,
 * external references, too costly) gives a warning and no error: the tool itself decides. A secret counts as
 * an unknown text. Never throws.
 */
export function validateArguments(descriptor: ToolDescriptor, args: JsonObject): Diagnostic[] {
  const { inputSchema } = descriptor;
  if (inputSchema === undefined) return [];
  const verdict = checkAgainstSchema(inputSchema, args);
  if (!verdict.usable) return [unusableSchema(descriptor.name, verdict.reason)];
  return withoutSecrets(verdict.errors, args)
    .slice(0, MAX_PROBLEMS)
    .map((error) => {
      const { code, keys, message, suggestion } = toArgumentProblem(error, args, nearestName);
      return {
        code,
        severity: "error",
        path: printPlace(["arguments", ...keys]),
        message: `${descriptor.name}: ${message}`,
        ...(suggestion !== undefined && { suggestion }),
      };
    });
}

/** The errors that do not depend on the values of secrets. */
function withoutSecrets(errors: readonly ErrorObject[], args: JsonObject): readonly ErrorObject[] {
  const secrets = errors.length === 0 ? undefined : openSecrets(args);
  return secrets === undefined || secrets.size === 0 ? errors : judgeable(errors, secrets, args);
}

/** The diagnostic for an unusable input schema. */
export function unusableSchema(tool: string, reason: string): Diagnostic {
  return {
    code: "TOOL_SCHEMA_UNUSABLE",
    severity: "warning",
    message: `Arguments of ${tool} are not checked: its input schema cannot be used (${reason})`,
  };
}

/** One violation of an input schema, in words. */
interface ArgumentProblem {
  readonly code: Extract<DiagnosticCode, `ARGUMENT_${string}`>;
  /** Path from the arguments to the value; for a missing argument its own path. */
  readonly keys: readonly (string | number)[];
  /** Follows "the argument x of tool y" or, for a missing argument, the tool. */
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** Converts an Ajv error into a problem with a message for people. */
export function toArgumentProblem(
  error: ErrorObject,
  args: JsonObject,
  nearest: (name: string, candidates: Iterable<string>) => string | undefined,
): ArgumentProblem {
  const keys = keysOfPointer(error.instancePath, args);
  const facts: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case "required":
      return missing([...keys, String(facts["missingProperty"])]);
    case "dependentRequired":
      return missing([...keys, String(facts["missingProperty"])]);
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(facts["additionalProperty"] ?? facts["unevaluatedProperty"]);
      return unknown([...keys, name], name, declared(error), nearest);
    }
    case "type": {
      const type: unknown = facts["type"];
      const wanted = Array.isArray(type) ? type.map(String).join(" or ") : String(type);
      const message = `argument ${printPlace(keys)} must be ${wanted}, not ${typeName(error.data)}`;
      return { code: "ARGUMENT_TYPE", keys, message };
    }
    default:
      return { code: "ARGUMENT_VALUE", keys, ...valueWords(error, keys, nearest) };
  }
}

function missing(keys: (string | number)[]): ArgumentProblem {
  return { code: "ARGUMENT_MISSING", keys, message: `argument ${printPlace(keys)} is required` };
}

function unknown(
  keys: (string | number)[],
  name: string,
  known: readonly string[],
  nearest: (name: string, candidates: Iterable<string>) => string | undefined,
): ArgumentProblem {
  const suggestion = nearest(name, known);
  const message = `argument ${cut(printPlace(keys))} does not exist${didYouMean(suggestion)}`;
  return { code: "ARGUMENT_UNKNOWN", keys, message, suggestion };
}

function declared(error: ErrorObject): string[] {
  const properties: unknown = isJsonObject(error.parentSchema) ? error.parentSchema["properties"] : undefined;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

function valueWords(
  error: ErrorObject,
  keys: readonly (string | number)[],
  nearest: (name: string, candidates: Iterable<string>) => string | undefined,
): { message: string; suggestion?: string | undefined } {
  const place = keys.length === 0 ? "the arguments" : `argument ${printPlace(keys)}`;
  if (error.keyword !== "enum")
    return { message: `${place} ${error.message ?? "has a value that is not allowed"}` };
  const values: unknown[] = Array.isArray(error.schema) ? error.schema : [];
  const texts = values.filter((value) => typeof value === "string");
  const suggestion = typeof error.data === "string" ? nearest(error.data, texts) : undefined;
  const shown = values.slice(0, 10).map((value) => unmarkNumbers(JSON.stringify(value)));
  const rest = values.length > 10 ? `, ... (${values.length} values)` : "";
  return {
    message: `${place} must be one of ${shown.join(", ")}${rest}${didYouMean(suggestion)}`,
    suggestion,
  };
}

/** Name of a value's JSON type. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (isExactNumber(value)) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

/**
 * Paths in arguments whose values are not known yet, as JSON pointers: `text` when the value will always be a
 * text.
 */
export type OpenPlaces = Map<string, "whole" | "text">;

/** The paths of secrets. Their values are texts; nothing else is known before the call. */
export function openSecrets(args: JsonObject): OpenPlaces {
  return new Map(secretPlaces(args).map(({ keys }) => [pointerOf(keys), "text"]));
}

/** The JSON pointer of a path. */
export function pointerOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Keywords whose result for an object or list depends on the values inside it. */
const BY_CONTENT = new Set([
  "anyOf",
  "oneOf",
  "not",
  "if",
  "const",
  "enum",
  "contains",
  "uniqueItems",
  "allOf",
]);
const COMPOSED = /\/(?:anyOf|oneOf|not|if|then|else|allOf|contains)(?:\/|$)/;

/** The errors that do not depend on the open values. */
export function judgeable(
  errors: readonly ErrorObject[],
  unknown: Readonly<OpenPlaces>,
  args: JsonObject,
): ErrorObject[] {
  if (unknown.size === 0) return withoutFollowers(errors);
  const holders = new Set<string>();
  for (const place of unknown.keys()) {
    for (let end = place.lastIndexOf("/"); end >= 0; end = place.lastIndexOf("/", end - 1)) {
      holders.add(place.slice(0, end));
      if (end === 0) break;
    }
  }
  const isOpen = (error: ErrorObject): boolean => {
    const kind = unknown.get(error.instancePath);
    if (kind === "whole") return true;
    if (kind === "text") return error.keyword !== "type" || COMPOSED.test(error.schemaPath);
    return holders.has(error.instancePath) && BY_CONTENT.has(error.keyword);
  };
  const openAbove = errors.filter((error) => isOpen(error) && holders.has(error.instancePath));
  const prefixes = new Set(openAbove.map((error) => error.instancePath));
  return withoutFollowers(errors.filter((error) => !isOpen(error) && !isBranchOf(error, prefixes, args)));
}

/**
 * True for an error of one branch when it is still open which branch applies: such an error means nothing.
 */
function isBranchOf(error: ErrorObject, open: ReadonlySet<string>, args: JsonObject): boolean {
  if (open.size === 0) return false;
  if (!COMPOSED.test(error.schemaPath) && !/^#\/(?:\$defs|definitions)\//.test(error.schemaPath))
    return false;
  const depth = keysOfPointer(error.instancePath, args).length;
  let path = error.instancePath;
  for (let level = 0; level <= depth; level++) {
    if (open.has(path)) return true;
    path = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  }
  return false;
}

/** Removes the error that Ajv adds for `if`: the errors of `then` or `else` are more specific. */
function withoutFollowers(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== "if");
}

/** Most differences that are named for one output. */
const MAX_TOLD = 3;

/**
 * An output as its tool declared it. Where the schema takes only lists, a value that is no list is a list of
 * one, and null an empty list: servers unwrap a list of one, and answer nothing for an empty list. A text
 * stays a text, because it may say something else than an item.
 *
 * An output that the schema does not allow is kept as it is, with at most three warnings (OUTPUT_UNEXPECTED):
 * the tool has acted. A schema that cannot be used says nothing. Never throws.
 */
export function readDeclaredOutput(
  schema: JsonObject | undefined,
  output: JsonValue,
): { output: JsonValue; warnings: string[] } {
  if (!isJsonObject(schema)) return { output, warnings: [] };
  const read = takesOnlyLists(schema) ? asList(output) : output;
  const verdict = checkAgainstSchema(schema, read);
  const errors = verdict.usable ? verdict.errors : [];
  const warnings = new Set<string>();
  for (const error of errors) {
    if (warnings.size === MAX_TOLD) break;
    warnings.add(differenceOf(error, read));
  }
  return { output: read, warnings: [...warnings] };
}

function takesOnlyLists(schema: JsonObject): boolean {
  const root = schemaAtPath(schema, []);
  const types = root.type === "known" ? typesOfSchemas(root.schemas) : undefined;
  return types?.size === 1 && types.has("array");
}

function asList(output: JsonValue): JsonValue {
  if (output === null) return [];
  return Array.isArray(output) || typeof output === "string" ? output : [output];
}

function differenceOf(error: ErrorObject, output: JsonValue): string {
  const keys = keysOfPointer(error.instancePath, output);
  const facts: Record<string, unknown> = error.params;
  const at = (...more: string[]) => printPlace(["output", ...keys, ...more]);
  const given = typeName(error.data);
  switch (error.keyword) {
    case "type": {
      const type: unknown = facts["type"];
      const declared = Array.isArray(type) ? type.map(String).join(" or ") : String(type);
      return outputUnexpected(at(), declared, given);
    }
    case "required":
      return outputUnexpected(at(String(facts["missingProperty"])), "required", "nothing");
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(facts["additionalProperty"] ?? facts["unevaluatedProperty"]);
      return outputUnexpected(at(name), "no such field", "one");
    }
    case "enum": {
      const values: unknown[] = Array.isArray(error.schema) ? error.schema : [];
      const shown = values.slice(0, 5).map((value) => cut(JSON.stringify(value), 40));
      return outputUnexpected(at(), `one of ${shown.join(", ")}`, cut(JSON.stringify(error.data), 60));
    }
    default:
      return outputUnexpected(at(), (error.message ?? "another value").replace(/^must /, "to "), given);
  }
}
