import type { DraftReference, DraftStep } from "../document/draft-step.ts";
import { isJsonObject } from "../json/json.ts";
import { type PathSegment, printReference } from "../json/path.ts";
import { type SchemaAtPath, typesOfSchemas } from "../schema/schema-paths.ts";
import type { KnownOutputs } from "./known-outputs.ts";

/** A suggestion for a reference that cannot be correct. */
export interface ReferenceHint {
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
export function fittingFields(
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
