import type { ErrorObject } from "ajv/dist/2020.js";
import { cut } from "../diagnostics/diagnostic-collector.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { isJsonObject } from "../json/json.ts";
import { printPlace } from "../json/path.ts";
import { outputUnexpected } from "../tools/tool-result.ts";
import { typeName } from "./argument-problem.ts";
import { checkAgainstSchema, keysOfPointer } from "./compile-schema.ts";
import { schemaAtPath, typesOfSchemas } from "./schema-paths.ts";

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
