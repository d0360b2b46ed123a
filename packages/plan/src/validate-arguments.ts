import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RE2JS } from "re2js";
import type { Diagnostic } from "./diagnostic.ts";
import type { JsonObject } from "./json.ts";
import { nearest } from "./suggest.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";

/** Compiled schemas kept; the oldest goes first. */
const MAX_COMPILED = 2_000;
/** A schema larger than this is not compiled: its tool's arguments are checked by the tool alone. */
const MAX_SCHEMA_CHARS = 262_144;

/** Patterns of strangers run in linear time. Ajv asks for something with `test`. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find() };
  },
  { code: "linearRegExp" },
);

const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  validateFormats: true,
  logger: false,
  addUsedSchema: false,
  // Ajv types this as RegExp-like; only `test` is used.
  code: { regExp: linearRegExp as never },
});
addFormats.default(ajv);

const compiled = new WeakMap<object, ValidateFunction | null>();
const compiledByText = new Map<string, ValidateFunction | null>();

/**
 * What a tool's input schema says against arguments, one diagnostic a place. Empty when there is no schema, or one that
 * cannot be compiled. Values that `isUnknown` names (a reference not filled yet) are not judged.
 */
export function validateArguments(
  descriptor: ToolDescriptor,
  args: JsonObject,
  isUnknown: (path: string) => boolean = () => false,
): Diagnostic[] {
  const validate = descriptor.inputSchema ? compile(descriptor.inputSchema) : null;
  if (!validate || validate(args)) return [];
  return (validate.errors ?? [])
    .filter((error) => !isUnknown(error.instancePath))
    .map((error) => toDiagnostic(descriptor.name, error, args));
}

/** The compiled schema; null when it is not one. */
function compile(schema: JsonObject): ValidateFunction | null {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  let validate = compiledByText.get(text);
  if (validate === undefined) {
    validate = text.length > MAX_SCHEMA_CHARS ? null : tryCompile(schema);
    if (compiledByText.size >= MAX_COMPILED) {
      const [oldest] = compiledByText.keys();
      if (oldest !== undefined) compiledByText.delete(oldest);
    }
    compiledByText.set(text, validate);
  }
  compiled.set(schema, validate);
  return validate;
}

function tryCompile(schema: JsonObject): ValidateFunction | null {
  try {
    const { $id: _id, $schema: _dialect, ...rest } = schema;
    return ajv.compile(rest);
  } catch {
    // A schema of a stranger that Ajv cannot read says nothing; the tool still checks its own arguments.
    return null;
  }
}

function toDiagnostic(tool: string, error: ErrorObject, args: JsonObject): Diagnostic {
  const at = (path: string): string =>
    `arguments${path.replace(/\/([^/]+)/g, (_, part: string) => `.${part}`)}`;
  const facts: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case "required": {
      const field = String(facts["missingProperty"]);
      return {
        code: "ARGUMENT_MISSING",
        severity: "error",
        path: `${at(error.instancePath)}.${field}`,
        message: `The tool ${tool} requires the argument ${field}`,
      };
    }
    case "additionalProperties": {
      const field = String(facts["additionalProperty"]);
      const allowed = Object.keys(error.parentSchema?.["properties"] ?? {});
      const suggestion = nearest(
        field,
        allowed.filter((name) => !Object.hasOwn(args, name)),
      );
      return {
        code: "ARGUMENT_UNKNOWN",
        severity: "error",
        path: `${at(error.instancePath)}.${field}`,
        message: `The tool ${tool} has no argument ${field}${suggestion ? `; did you mean ${suggestion}?` : ""}`,
        ...(suggestion ? { suggestion } : {}),
      };
    }
    default: {
      const place = at(error.instancePath);
      return {
        code: "ARGUMENT_INVALID",
        severity: "error",
        path: place,
        message: `${place} of the tool ${tool} ${error.message ?? "is not valid"}`,
      };
    }
  }
}
