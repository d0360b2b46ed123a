import type { ErrorObject } from "ajv/dist/2020.js";
import { argumentKeys, type DraftReference, type DraftStep } from "../dialect/draft-step.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Policy } from "../policy.ts";
import type { PathSegment } from "../reference/path.ts";
import type { ToolDescriptor } from "../tool-descriptor.ts";
import { toArgumentProblem, typeName } from "./argument-problem.ts";
import { checkAgainstSchema, keysOfPointer } from "./compile-schema.ts";
import { didYouMean, type Findings } from "./findings.ts";
import type { KnownOutputs } from "./known-outputs.ts";
import { schemaAtPath, typesOfSchemas, typesOverlap } from "./schema-paths.ts";
import { MAX_PROBLEMS, unusableSchema } from "./validate-arguments.ts";

/** One step's call, and what it is checked with. */
export interface ArgumentChecking {
  readonly step: DraftStep;
  readonly tool: ToolDescriptor;
  readonly outputs: KnownOutputs;
  readonly policy: Policy;
  readonly findings: Findings;
  /** Tools whose schema was reported as unusable already. */
  readonly unusable: Set<string>;
}

/**
 * Checks a call's arguments, references and all, against the tool's input schema. A reference is judged by what is known of its type;
 * what depends on its value is left to the check before the call.
 */
export function checkArguments(checking: ArgumentChecking): void {
  const { step, tool, findings, unusable } = checking;
  if (!isJsonObject(tool.inputSchema)) return;
  const verdict = checkAgainstSchema(tool.inputSchema, step.arguments);
  if (!verdict.usable) {
    if (unusable.has(tool.name)) return;
    unusable.add(tool.name);
    const { code, severity, message } = unusableSchema(tool.name, verdict.reason);
    findings.add(code, { step }, { severity, message });
    return;
  }
  const unknown = unknownPlaces(step);
  const reported = verdict.errors.length === 0 ? [] : judgeable(verdict.errors, unknown, step.arguments);
  for (const error of reported.slice(0, MAX_PROBLEMS)) report(error, checking);
  checkTypes(checking, tool.inputSchema);
  checkUndeclared(checking, tool.inputSchema);
}

function report(error: ErrorObject, { step, tool, policy, findings }: ArgumentChecking): void {
  const problem = toArgumentProblem(error, step.arguments, (name, names) => findings.nearest(name, names));
  const isFilledLater = policy.mergeDependencyOutputs && step.dependsOn.length + step.references.length > 0;
  if (problem.code === "ARGUMENT_MISSING" && problem.keys.length === 1 && isFilledLater) return;
  const where = { step, keys: [...argumentKeys(step), ...problem.keys] };
  const message = `step ${step.id}: ${problem.message} (tool ${tool.name})`;
  findings.add(problem.code, where, { message, suggestion: problem.suggestion });
}

/** Places in the arguments whose values are not known yet, by pointer: whole ones, and texts with a reference inside. */
function unknownPlaces(step: DraftStep): Map<string, "whole" | "text"> {
  const below = argumentKeys(step).length;
  const places = new Map<string, "whole" | "text">();
  for (const { keys, isWhole } of step.references) {
    if (!isArgument(keys, step)) continue;
    const pointer = keys
      .slice(below)
      .map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`);
    places.set(pointer.join(""), isWhole ? "whole" : "text");
  }
  return places;
}

function isArgument(keys: readonly (string | number)[], step: DraftStep): boolean {
  return argumentKeys(step).every((key, position) => keys[position] === key);
}

/** Keywords whose answer about an object or list depends on values inside it. */
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

/** The errors that stay errors whatever the references turn out to be. */
function judgeable(
  errors: readonly ErrorObject[],
  unknown: ReadonlyMap<string, "whole" | "text">,
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

/** An error of one branch under a choice that is still open says nothing. */
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

/** Ajv adds one error for `if` beside those of `then` or `else`; the latter say more. */
function withoutFollowers(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== "if");
}

/** A reference whose type is known must be able to be what the tool takes. */
function checkTypes({ step, tool, outputs, findings }: ArgumentChecking, schema: JsonObject): void {
  const below = argumentKeys(step).length;
  for (const reference of step.references) {
    if (!reference.isWhole || !isArgument(reference.keys, step)) continue;
    const given = givenTypes(reference, step, outputs);
    const wanted = schemaAtPath(schema, reference.keys.slice(below).map(toSegment));
    const taken = wanted.type === "known" ? typesOfSchemas(wanted.schemas) : undefined;
    if (!given || !taken || typesOverlap(given, taken)) continue;
    const message = `step ${step.id}: ${reference.text} gives ${[...given].join(" or ")}, and tool ${tool.name} takes ${[...taken].join(" or ")}`;
    findings.add("REFERENCE_TYPE", { step, keys: reference.keys }, { message });
  }
}

function givenTypes(reference: DraftReference, step: DraftStep, outputs: KnownOutputs) {
  if (reference.path.some(({ type }) => type === "all")) return new Set(["array"]);
  const found = outputs.at(reference, step);
  return found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
}

function toSegment(key: string | number): PathSegment {
  return typeof key === "number" ? { type: "index", index: key } : { type: "key", key };
}

/** An argument that the schema does not declare and does not forbid is most often a slip. */
function checkUndeclared({ step, tool, findings }: ArgumentChecking, schema: JsonObject): void {
  const { properties } = schema;
  const isOpen = Object.keys(schema).some((keyword) => OPENING.has(keyword));
  if (!isJsonObject(properties) || isOpen) return;
  const names = Object.keys(properties);
  for (const name of Object.keys(step.arguments)) {
    if (Object.hasOwn(properties, name)) continue;
    const suggestion = findings.nearest(name, names);
    const message = `step ${step.id}: tool ${tool.name} declares no argument ${name}${didYouMean(suggestion)} (${kindOf(step.arguments[name])})`;
    const where = { step, keys: [...argumentKeys(step), name] };
    findings.add("ARGUMENT_UNDECLARED", where, { message, severity: "warning", suggestion });
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
