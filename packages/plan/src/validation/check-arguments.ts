import type { ErrorObject } from "ajv/dist/2020.js";
import { cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import { argumentKeys, type DraftReference, type DraftStep } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathSegment,
  printReference,
} from "../json/json.ts";
import { checkAgainstSchema } from "../schema/compile-schema.ts";
import { fitTexts, fittedWarnings, toSegment } from "../schema/fit-texts.ts";
import {
  type ForeignType,
  foreignTypesOf,
  type SchemaAtPath,
  schemaAtPath,
  typesOfSchemas,
  typesOverlap,
} from "../schema/schema-types.ts";
import {
  judgeable,
  MAX_PROBLEMS,
  type OpenPlaces,
  openSecrets,
  pointerOf,
  toArgumentProblem,
  typeName,
  unusableSchema,
} from "../schema/validate-arguments.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { givesTypes, type KnownOutputs, typesAt, weightOf } from "./catalogue.ts";

/** One step's call, and the context for checking it. */
interface ArgumentChecking {
  readonly step: DraftStep;
  readonly tool: ToolDescriptor;
  readonly outputs: KnownOutputs;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Tools whose schema was already reported as unusable. */
  readonly unusable: Set<string>;
}

/**
 * Checks a call's arguments, including references, against the tool's input schema. A reference is checked by
 * its known types; errors that depend on its value are left to the check before the call.
 */
export function checkArguments(checking: ArgumentChecking): void {
  const { step, tool, diagnostics, unusable } = checking;
  if (!isJsonObject(tool.inputSchema)) return;
  const fitted = fitTexts(tool.inputSchema, step.arguments);
  const verdict = checkAgainstSchema(tool.inputSchema, fitted.value);
  if (!verdict.usable) {
    if (unusable.has(tool.name)) return;
    unusable.add(tool.name);
    const { code, severity, message } = unusableSchema(tool.name, verdict.reason);
    diagnostics.add(code, { step }, { severity, message });
    return;
  }
  reportForeignTypes(checking, tool.inputSchema);
  for (const [index, message] of fittedWarnings(tool.name, fitted.places).entries()) {
    const { keys = [], wrapped } = fitted.places[index] ?? {};
    const where = { step, keys: [...argumentKeys(step), ...keys] };
    const suggestion = wrapped?.slice(0, 200);
    diagnostics.add("ARGUMENT_TYPE", where, {
      message: `step ${step.id}: ${message}`,
      severity: "warning",
      suggestion,
    });
  }
  const unknown = unknownPlaces(step);
  const reported = verdict.errors.length === 0 ? [] : judgeable(verdict.errors, unknown, step.arguments);
  for (const error of reported.slice(0, MAX_PROBLEMS)) report(error, checking);
  checkTypes(checking, tool.inputSchema);
  checkUndeclared(checking, tool.inputSchema);
}

/** Reports unknown type names of a schema, once for each tool. */
function reportForeignTypes(
  { step, tool, diagnostics, unusable }: ArgumentChecking,
  schema: JsonObject,
): void {
  const foreign = foreignTypesOf(schema);
  if (foreign.length === 0 || unusable.has(tool.name)) return;
  unusable.add(tool.name);
  const read = foreign.map(readingOf);
  const isKnown = foreign.every(({ values }) => values);
  const what = isKnown ? "types that none of the listed values has" : "types that JSON Schema does not know";
  const message = `The input schema of ${tool.name} names ${what}; they are read by their usual meaning: ${read.join(", ")}`;
  diagnostics.add("TOOL_SCHEMA_TYPE", { step }, { message, severity: "warning" });
}

function readingOf({ name, readAs, values }: ForeignType): string {
  const shown = JSON.stringify(cut(name, 40));
  if (!values) return `${shown} as ${readAs?.join(" or ") ?? "anything"}`;
  const texts = values.slice(0, 5).map((value) => cut(JSON.stringify(value), 40));
  return `${shown} as one of ${texts.join(", ")}${values.length > texts.length ? ", ..." : ""}`;
}

function report(error: ErrorObject, { step, tool, policy, diagnostics }: ArgumentChecking): void {
  const problem = toArgumentProblem(error, step.arguments, (name, names) => diagnostics.nearest(name, names));
  const isFilledLater = policy.mergeDependencyOutputs && step.dependsOn.length + step.references.length > 0;
  if (problem.code === "ARGUMENT_MISSING" && problem.keys.length === 1 && isFilledLater) return;
  const where = { step, keys: [...argumentKeys(step), ...problem.keys] };
  const message = `step ${step.id}: ${problem.message} (tool ${tool.name})`;
  diagnostics.add(problem.code, where, { message, suggestion: problem.suggestion });
}

/**
 * Paths in the arguments whose values are not known yet: references, texts with a reference inside, secrets.
 */
function unknownPlaces(step: DraftStep): OpenPlaces {
  const below = argumentKeys(step).length;
  const places = openSecrets(step.arguments);
  for (const { keys, isWhole } of [...step.references, ...step.refused]) {
    if (!isArgument(keys, step)) continue;
    places.set(pointerOf(keys.slice(below)), isWhole ? "whole" : "text");
  }
  return places;
}

function isArgument(keys: readonly (string | number)[], step: DraftStep): boolean {
  return argumentKeys(step).every((key, position) => keys[position] === key);
}

/** Reports references whose known types do not fit the tool's schema. */
function checkTypes({ step, tool, outputs, diagnostics }: ArgumentChecking, schema: JsonObject): void {
  const below = argumentKeys(step).length;
  for (const reference of step.references) {
    if (!reference.isWhole || !isArgument(reference.keys, step)) continue;
    const { types: given, outputs: seen } = givenTypes(reference, step, outputs);
    const wanted = schemaAtPath(schema, reference.keys.slice(below).map(toSegment));
    const taken = wanted.type === "known" ? typesOfSchemas(wanted.schemas) : undefined;
    if (!given || !taken || typesOverlap(given, taken)) continue;
    const hint = typeHint({ reference, step, outputs }, given, taken);
    const message = `step ${step.id}: ${reference.text} ${givesTypes(given, seen)}, and tool ${tool.name} takes ${[...taken].join(" or ")}${hint?.text ?? ""}`;
    const where = { step, keys: reference.keys };
    // Every value except null becomes its JSON text for an argument that accepts text.
    const canBeText = taken.has("string") && [...given].some((type) => type !== "null");
    const severity = canBeText ? ({ severity: "warning" } as const) : {};
    diagnostics.add("REFERENCE_TYPE", where, {
      message,
      suggestion: hint?.suggestion,
      ...weightOf(seen),
      ...severity,
    });
  }
}

/**
 * A hint for parts of the value that fit: the entries of a forEach, fields of an object, or each item of a
 * list in a separate call.
 */
function typeHint(
  { reference, step, outputs }: { reference: DraftReference; step: DraftStep; outputs: KnownOutputs },
  given: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): ReferenceHint | undefined {
  if (given.has("array")) {
    const text = `; for a call for each of its items give this step a "forEach" with the list, and refer to <<item>>`;
    return taken.has("object") || step.forEach ? undefined : { text, suggestion: '"forEach"' };
  }
  if (outputs.isForEach(reference)) return envelopeHint(reference);
  const [first, ...others] = fittingFields(reference, outputs.at(reference, step), taken);
  return first === undefined
    ? undefined
    : { text: `; write ${[first, ...others].join(" or ")}`, suggestion: first };
}

/** The types that a reference can have; without a schema from earlier outputs, with their number. */
function givenTypes(
  reference: DraftReference,
  step: DraftStep,
  known: KnownOutputs,
): { types?: ReadonlySet<string> | undefined; outputs?: number | undefined } {
  if (reference.path.some(({ type }) => type === "all")) return { types: new Set(["array"]) };
  const found = known.at(reference, step);
  return { types: typesAt(found), outputs: found.outputs };
}

/** Warns about arguments that the schema neither declares nor forbids: they are usually a mistake. */
function checkUndeclared({ step, tool, diagnostics }: ArgumentChecking, schema: JsonObject): void {
  const { properties } = schema;
  const isOpen = Object.keys(schema).some((keyword) => OPENING.has(keyword));
  if (!isJsonObject(properties) || isOpen) return;
  const names = Object.keys(properties);
  for (const name of Object.keys(step.arguments)) {
    if (Object.hasOwn(properties, name)) continue;
    const suggestion = diagnostics.nearest(name, names);
    const message = `step ${step.id}: tool ${tool.name} declares no argument ${name}${didYouMean(suggestion)} (${kindOf(step.arguments[name])})`;
    const where = { step, keys: [...argumentKeys(step), name] };
    diagnostics.add("ARGUMENT_UNDECLARED", where, { message, severity: "warning", suggestion });
  }
}

function kindOf(value: JsonValue | undefined): string {
  return typeName(value);
}

const OPENING = new Set([
  "additionalProperties",
  "unevaluatedProperties",
  "patternProperties",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
]);

/** A suggestion for a reference that cannot be correct. */
interface ReferenceHint {
  /** Appended to the message. */
  text: string;
  suggestion: string;
}

const ENTRY_FIELDS: ReadonlySet<string> = new Set(["index", "key", "status", "data", "error"]);

/**
 * A hint for a field that the source's output does not have: for lists on the path, and for outputs of a
 * forEach, which are lists too.
 */
export function fieldHint(
  reference: DraftReference,
  step: DraftStep,
  outputs: KnownOutputs,
): ReferenceHint | undefined {
  const hint = outputs.isForEach(reference) ? envelopeHint(reference) : undefined;
  return hint && hint.suggestion !== reference.text ? hint : listHint(reference, step, outputs);
}

/** A hint that the outputs of a forEach's calls are in `results[*].data`. */
export function envelopeHint({ source, path }: DraftReference): ReferenceHint {
  const [first, second] = path;
  const isNamed = first?.type === "key" && first.key === "results";
  const rest = path.slice(isNamed ? 1 : 0);
  const chosen = rest[0]?.type === "index" || rest[0]?.type === "all" ? rest[0] : undefined;
  const field = (chosen ? rest.slice(1) : rest).filter(
    (segment, at) => at > 0 || segment.type !== "key" || !ENTRY_FIELDS.has(segment.key),
  );
  const inner: PathSegment[] = [
    { type: "key", key: "results" },
    chosen ?? { type: "all" },
    { type: "key", key: "data" },
  ];
  const isSummary = first?.type === "key" && first.key === "summary" && second !== undefined;
  const suggestion = isSummary
    ? printReference(source.name, [first, { type: "key", key: "ok" }])
    : printReference(source.name, [...inner, ...field]);
  const text = `; ${source.name} is a forEach, whose output is {"results": [{"index", "key", "status", "data"}], "summary": {"ok", "error"}}: write ${suggestion}`;
  return { text, suggestion };
}

/** A hint that a field of all items of a list is read with `[*]`. */
function listHint(
  { source, path, ...rest }: DraftReference,
  step: DraftStep,
  outputs: KnownOutputs,
): ReferenceHint | undefined {
  for (let length = 0; length < path.length; length += 1) {
    const before = path.slice(0, length);
    if (path[length]?.type !== "key" || !isOnlyList(outputs.at({ source, ...rest, path: before }, step)))
      continue;
    const suggestion = printReference(source.name, [...before, { type: "all" }, ...path.slice(length)]);
    const list = printReference(source.name, before);
    return {
      text: `; ${list} is a list: write ${suggestion} for the field of all its items, or "forEach": "${list}" for a call for each`,
      suggestion,
    };
  }
  return undefined;
}

function isOnlyList(found: SchemaAtPath): boolean {
  const types = found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
  return types?.size === 1 && types.has("array");
}

const MAX_NAMES = 10;

/** References to the lists in an object, for a forEach whose items are the object. */
export function listsIn({ source, path }: DraftReference, found: SchemaAtPath): string[] {
  return fieldsOf(found)
    .filter(([, schema]) => typesOfSchemas([schema])?.has("array"))
    .map(([key]) => printReference(source.name, [...path, { type: "key", key }]))
    .slice(0, MAX_NAMES);
}

/** References to the fields of an object with one of these types, for a parameter that gets the object. */
function fittingFields(
  { source, path }: DraftReference,
  found: SchemaAtPath,
  taken: ReadonlySet<string>,
): string[] {
  const fits = [...fieldsOf(found)].filter(([, schema]) =>
    [...(typesOfSchemas([schema]) ?? [])].some((type) => taken.has(type)),
  );
  return fits
    .map(([key]) => printReference(source.name, [...path, { type: "key", key }]))
    .slice(0, MAX_NAMES);
}

function fieldsOf(found: SchemaAtPath) {
  if (found.type !== "known") return [];
  return found.schemas.flatMap((schema) =>
    isJsonObject(schema) && isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [],
  );
}
