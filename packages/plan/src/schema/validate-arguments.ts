import type { ErrorObject } from "ajv/dist/2020.js";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { nearestName } from "../diagnostics/nearest-name.ts";
import type { JsonObject } from "../json/json.ts";
import { printPlace } from "../json/path.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { toArgumentProblem } from "./argument-problem.ts";
import { checkAgainstSchema } from "./compile-schema.ts";
import { judgeable, openSecrets } from "./open-values.ts";

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
