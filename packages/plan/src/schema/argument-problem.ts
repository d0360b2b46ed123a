import type { ErrorObject } from "ajv/dist/2020.js";
import type { DiagnosticCode } from "../diagnostics/diagnostic.ts";
import { cut, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import { isExactNumber, unmarkNumbers } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { printPlace } from "../json/path.ts";
import { keysOfPointer } from "./compile-schema.ts";

/** One violation of an input schema, in words. */
export interface ArgumentProblem {
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
