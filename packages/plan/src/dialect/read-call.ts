import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { argumentKeys, type DraftStep, toolKeys } from "../document/draft-step.ts";
import { plainName } from "../document/field-words.ts";
import { ToolNameSchema } from "../document/ids.ts";
import { copyJson } from "../json/copy-json.ts";
import { depthOf, isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import type { Limits } from "../policy/limits.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import type { Fields } from "./read-fields.ts";
import { refuseUnfit } from "./read-value.ts";

/** Context for reading the calls of a plan. */
export interface StepReading {
  readonly limits: Limits;
  readonly catalogue: Catalogue | undefined;
  readonly diagnostics: DiagnosticCollector;
}

/** Reads tool and arguments into a step. */
export function readCall(fields: Fields, step: DraftStep, reading: StepReading): void {
  readTool(fields, step, reading.diagnostics);
  const args = fields.get("arguments")?.value;
  if (args !== undefined) step.arguments = readArguments(args, step, reading);
}

function readTool(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): void {
  const tool = fields.get("tool")?.value;
  const where = { step, keys: toolKeys(step) };
  if (tool === undefined) {
    diagnostics.add("FIELD_MISSING", where, { message: `step ${step.id} names no tool` });
  } else if (typeof tool !== "string" || !ToolNameSchema.safeParse(tool).success) {
    const shown = cut(JSON.stringify(tool));
    diagnostics.add("TOOL_NAME_INVALID", where, {
      message: `step ${step.id}: ${shown} cannot be the name of a tool`,
    });
  } else step.tool = tool;
}

/**
 * Arguments as an object, as a list of `{name, value}`, or as JSON text of one; an empty text or list means
 * no arguments.
 */
function readArguments(value: JsonValue, step: DraftStep, { limits, diagnostics }: StepReading): JsonObject {
  const where = { step, keys: argumentKeys(step) };
  const read = typeof value === "string" ? readArgumentText(value, step, diagnostics) : value;
  if (read === undefined) return {};
  const args = Array.isArray(read) ? (namedValues(read) ?? read) : read;
  if (!isJsonObject(args)) {
    const message = `step ${step.id}: arguments are an object {"name": value}, or JSON text of one`;
    diagnostics.add("ARGUMENTS_NOT_OBJECT", where, { message });
    return {};
  }
  if (depthOf(args, limits.maxDepth) > limits.maxDepth) {
    const message = `step ${step.id}: arguments are nested deeper than ${limits.maxDepth} levels`;
    diagnostics.add("LIMIT_DEPTH", where, { message });
    return {};
  }
  return args;
}

/** `[{"name": "city", "value": "Rome"}]` as `{"city": "Rome"}`; undefined for any other list. */
function namedValues(list: readonly JsonValue[]): JsonObject | undefined {
  const args: JsonObject = {};
  for (const item of list) {
    const entries = isJsonObject(item)
      ? Object.keys(item).map((field) => [field, item[field] ?? null] as const)
      : [];
    const names = entries.filter(([field]) => NAMING.has(plainName(field)));
    const values = entries.filter(([field]) => plainName(field) === "value");
    const isMore = entries.some(([field]) => !DESCRIBING.has(plainName(field)));
    const name = names[0]?.[1];
    const value = values[0]?.[1];
    if (names.length !== 1 || value === undefined || isMore || typeof name !== "string") return undefined;
    if (name === "__proto__" || Object.hasOwn(args, name)) return undefined;
    args[name] = value;
  }
  return args;
}

const NAMING = new Set(["name", "key", "parameter", "argument", "param", "arg"]);
const DESCRIBING = new Set([...NAMING, "value", "type", "description", "required"]);

function readArgumentText(
  text: string,
  step: DraftStep,
  diagnostics: DiagnosticCollector,
): JsonValue | undefined {
  if (text.trim() === "") return {};
  const parsed = parseJson(text);
  // The text was inside the document's byte limit, so its JSON is small; what a document must not
  // contain is reported.
  const copy = parsed.ok ? copyJson(parsed.value, { maxDepth: 1_000, maxBytes: text.length * 4 }) : undefined;
  if (copy?.ok) {
    refuseUnfit(copy, diagnostics, { step, keys: argumentKeys(step) });
    return copy.value;
  }
  const reason = parsed.ok ? "nested too deep" : parsed.message;
  const message = `step ${step.id}: the text of its arguments is not JSON of an object (${reason}); write an object`;
  diagnostics.add("ARGUMENTS_NOT_JSON", { step, keys: argumentKeys(step) }, { message });
  return undefined;
}
