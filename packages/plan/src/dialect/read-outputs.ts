import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import type { DraftReference } from "../document/draft-step.ts";
import { MAX_OUTPUT_PARTS, MAX_OUTPUTS, OutputNameSchema, type Outputs } from "../document/outputs-schema.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { mapJson, placeKeys } from "../json/map-json.ts";
import { FORBIDDEN_KEYS, setOwn } from "../json/own-property.ts";
import { printReference } from "../json/path.ts";
import { type Located, locateRoot, type Names } from "../reference/locate-root.ts";
import type { TextReference } from "../reference/read-reference.ts";
import { scanText } from "../reference/scan-text.ts";
import { at } from "./read-fields.ts";
import type { Translator } from "./translate-notations.ts";

/** Outputs as written in a document: names of steps or tools, or parts by name. */
export type WrittenOutputs = readonly string[] | JsonObject;

/** Outputs in canonical form, and the references in their parts; keys are relative to `outputs`. */
export interface ReadOutputs {
  readonly outputs: Outputs;
  readonly references: readonly DraftReference[];
}

/** Context for reading outputs. */
export interface OutputsContext {
  readonly names: Names;
  /** Candidates for similar names. */
  readonly candidates: () => Iterable<string>;
  readonly diagnostics: DiagnosticCollector;
  readonly translator: Translator;
}

const SHAPE = `is a list of at most ${MAX_OUTPUTS} step ids, or at most ${MAX_OUTPUT_PARTS} values with references by name`;

/**
 * Reads outputs in any form: a step id, a list of ids, parts by name, or a list of `{name, value}` (for
 * schemas without free names). No outputs means all steps, and gives undefined.
 */
export function readOutputsField(
  field: { value: JsonValue; name: string } | undefined,
  diagnostics: DiagnosticCollector,
): WrittenOutputs | undefined {
  if (!field) return undefined;
  const { value, name } = field;
  const written = namesOf(value) ?? partsOfList(value) ?? value;
  if (
    Array.isArray(written) &&
    written.length <= MAX_OUTPUTS &&
    written.every((id) => typeof id === "string")
  )
    return written.length === 0 ? undefined : written;
  if (isJsonObject(written)) {
    const wrong = Object.keys(written).find((part) => !isPartName(part));
    if (wrong !== undefined) {
      const message = `${name}: ${JSON.stringify(cut(wrong))} cannot be the name of an output; give 1 to 128 characters`;
      diagnostics.add("FIELD_INVALID", at({}, "outputs"), { message });
      return undefined;
    }
    const count = Object.keys(written).length;
    if (count <= MAX_OUTPUT_PARTS) return count === 0 ? undefined : written;
  }
  diagnostics.add("FIELD_INVALID", at({}, "outputs"), { message: `${name} ${SHAPE}` });
  return undefined;
}

/** Ids, which may be written as numbers; undefined when an entry is neither text nor number. */
function namesOf(value: JsonValue): string[] | undefined {
  const names = (Array.isArray(value) ? value : [value]).map((id) => (isJsonNumber(id) ? digitsOf(id) : id));
  return names.every((id) => typeof id === "string") ? names : undefined;
}

function isPartName(name: string): boolean {
  return OutputNameSchema.safeParse(name).success && !FORBIDDEN_KEYS.has(name);
}

/**
 * Parts by name from a list of `{name, value}`; undefined for any other value, and when a name occurs twice.
 */
function partsOfList(value: JsonValue): JsonObject | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const parts: JsonObject = {};
  for (const item of value) {
    if (!isJsonObject(item) || Object.keys(item).some((key) => key !== "name" && key !== "value"))
      return undefined;
    const { name, value: part } = item;
    if (typeof name !== "string" || part === undefined || Object.hasOwn(parts, name)) return undefined;
    setOwn(parts, name, part);
  }
  return parts;
}

/**
 * Converts outputs into canonical form: ids of steps, references with step ids. An unknown name gets a
 * diagnostic.
 */
export function readOutputs(written: WrittenOutputs, context: OutputsContext): ReadOutputs {
  return isNames(written)
    ? { outputs: readNames(written, context), references: [] }
    : readParts(written, context);
}

function isNames(written: WrittenOutputs): written is readonly string[] {
  return Array.isArray(written);
}

function readNames(
  written: readonly string[],
  { names, candidates, diagnostics, translator }: OutputsContext,
): string[] {
  const ids = new Set<string>();
  for (const [position, name] of written.entries()) {
    const named = locateRoot(name, [], names);
    const meant = named.type === "unknown" ? translator.stepId(name) : undefined;
    const located = meant === undefined ? named : locateRoot(meant, [], names);
    if (located.type === "step") ids.add(located.name);
    else if (located.type === "ambiguous") for (const id of located.candidates) ids.add(id);
    else {
      const suggestion = diagnostics.nearest(name, candidates());
      const message = `output ${cut(name)} is asked for: no such step${didYouMean(suggestion)}`;
      diagnostics.add("OUTPUT_UNKNOWN", { keys: ["outputs", position] }, { message, suggestion });
    }
  }
  return [...ids];
}

function readParts(written: JsonObject, context: OutputsContext): ReadOutputs {
  const references: DraftReference[] = [];
  const outputs: JsonObject = {};
  for (const [name, part] of Object.entries(written)) {
    const read = context.translator.value(part, { keys: ["outputs", name] });
    const value = mapJson(read, (text, place) => {
      const keys = ["outputs", name, ...placeKeys(place)];
      return rewriteText(text, { name, keys, context, references });
    });
    setOwn(outputs, name, value);
  }
  return { outputs, references };
}

interface PartPlace {
  readonly name: string;
  readonly keys: readonly (string | number)[];
  readonly context: OutputsContext;
  readonly references: DraftReference[];
}

function rewriteText(written: string, place: PartPlace): string {
  const text = place.context.translator.text(written, place);
  const scanned = scanText(text);
  if (!scanned) return text;
  checkMalformed(scanned.malformed, place);
  let rewritten = "";
  let from = 0;
  for (const part of scanned.parts) {
    if (part.type === "literal") continue;
    rewritten += text.slice(from, part.start) + rewriteReference(part, scanned.parts.length === 1, place);
    from = part.end;
  }
  return rewritten + text.slice(from);
}

function rewriteReference(reference: TextReference, isWhole: boolean, place: PartPlace): string {
  const located = locateRoot(reference.root, reference.path, place.context.names);
  if (located.type !== "step") {
    refuse(reference, located, place);
    return reference.text;
  }
  const { name, path } = located;
  const text = printReference(name, path);
  place.references.push({ text, keys: place.keys, isWhole, source: { type: "step", name }, path });
  return text;
}

function refuse(reference: TextReference, located: Located, { name, keys, context }: PartPlace): void {
  const { diagnostics, candidates } = context;
  const begin = `output ${cut(name)} refers to ${cut(reference.text)}`;
  if (located.type === "forbidden") {
    const message = `${begin}: ${located.key} is not a field of data`;
    diagnostics.add("REFERENCE_FORBIDDEN", { keys }, { message });
  } else if (located.type === "ambiguous") {
    const users = located.candidates.slice(0, 20).join(", ");
    const message = `${begin}: tool ${located.name} is used by the steps ${users}; use a step id`;
    diagnostics.add("REFERENCE_AMBIGUOUS", { keys }, { message, suggestion: located.candidates[0] });
  } else {
    const suggestion = diagnostics.nearest(reference.root, candidates());
    const message = `${begin}: no such step${didYouMean(suggestion)}`;
    diagnostics.add("OUTPUT_UNKNOWN", { keys }, { message, suggestion });
  }
}

/** Reports text that opens like a reference to a step, but is malformed. */
function checkMalformed(
  malformed: readonly { root: string; text: string }[],
  { name, keys, context }: PartPlace,
): void {
  for (const { root, text } of malformed.slice(0, 20)) {
    if (locateRoot(root, [], context.names).type === "unknown") continue;
    const message = `output ${cut(name)}: ${cut(text, 60)} is no reference; write <<${root}.field>>, or \\<< for the characters themselves`;
    context.diagnostics.add("REFERENCE_MALFORMED", { keys }, { message, suggestion: `<<${root}>>` });
  }
}
