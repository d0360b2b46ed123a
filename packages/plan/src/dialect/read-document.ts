import { cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import {
  type DraftReference,
  MAX_OUTPUT_PARTS,
  MAX_OUTPUTS,
  OutputNameSchema,
  type Outputs,
  PlanSchema,
} from "../document/plan.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import {
  FORBIDDEN_KEYS,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mapJson,
  placeKeys,
  printReference,
  setOwn,
} from "../json/json.ts";
import {
  type Located,
  locateRoot,
  type Names,
  scanText,
  type TextReference,
} from "../reference/read-reference.ts";
import {
  addNote,
  at,
  CALL_LISTS,
  callsIn,
  type FieldNames,
  type Fields,
  isCall,
  isCatalogue,
  isProseBlock,
  judgePlanFields,
  readFields,
} from "./call-fields.ts";
import type { Translator } from "./translate-notations.ts";

/** The parts of a document of any dialect. */
export interface PlanDocument {
  readonly calls: readonly JsonValue[];
  /** Requested outputs: ids or tools, or parts by name. */
  readonly outputs: WrittenOutputs | undefined;
  /** Of the tool-chaining dialect: a list of tools or steps, or `sequential`, `parallel`. */
  readonly executionOrder: JsonValue | undefined;
  /** Texts that are literal values. */
  readonly literals: readonly string[];
  readonly policy: JsonValue | undefined;
  readonly limits: JsonValue | undefined;
}

const DOCUMENT_FIELDS: FieldNames = {
  formatVersion: ["formatVersion"],
  steps: ["steps"],
  tools: ["tools"],
  calls: ["calls"],
  outputs: ["outputs", "output_steps"],
  executionOrder: ["executionOrder"],
  literals: ["literals"],
  policy: ["policy"],
  limits: ["limits"],
};

/**
 * Reads the parts of a plan document: `{steps, outputs}`, `{steps, output_steps}`, `{tools, executionOrder}`,
 * `{calls}`, or a list of calls. Undefined, with a diagnostic, when there are no calls.
 */
export function readDocument(value: JsonValue, diagnostics: DiagnosticCollector): PlanDocument | undefined {
  if (Array.isArray(value)) return withCalls({ calls: value }, diagnostics);
  if (!isJsonObject(value)) {
    diagnostics.add(
      "PLAN_SHAPE",
      {},
      { message: `${SHAPE}, not ${value === null ? "null" : `a ${typeof value}`}` },
    );
    return undefined;
  }
  const { fields, unknown } = readFields(value, DOCUMENT_FIELDS, {}, diagnostics);
  judgePlanFields(unknown, Object.keys(DOCUMENT_FIELDS), diagnostics);
  const version = fields.get("formatVersion")?.value ?? 1;
  if (version !== 1) {
    const message = `formatVersion is ${JSON.stringify(version)?.slice(0, 40)}; this reader knows version 1`;
    diagnostics.add("PLAN_VERSION_UNKNOWN", at({}, "formatVersion"), { message });
  }
  const calls = readCalls(fields, diagnostics);
  if (!calls) return undefined;
  return withCalls(
    {
      calls,
      outputs: readOutputsField(fields.get("outputs"), diagnostics),
      executionOrder: fields.get("executionOrder")?.value,
      literals: readLiterals(fields.get("literals")?.value, diagnostics),
      policy: fields.get("policy")?.value,
      limits: fields.get("limits")?.value,
    },
    diagnostics,
  );
}

/**
 * The calls are in one of three fields; in the other fields models list the tools that they use, as texts or
 * with schemas.
 */
function readCalls(fields: Fields, diagnostics: DiagnosticCollector): JsonValue[] | undefined {
  const lists = CALL_LISTS.flatMap((name) => fields.get(name) ?? []);
  const chosen = lists.find(({ value }) => holdsCalls(value)) ?? lists[0];
  const calls = chosen && callsIn(chosen.value);
  if (!chosen || !calls) {
    diagnostics.add("PLAN_SHAPE", chosen ? at({}, chosen.name) : {}, { message: SHAPE });
    return undefined;
  }
  for (const other of lists) {
    if (other === chosen) continue;
    if (isEmpty(other.value)) continue;
    if (isListOfTools(other.value)) addNote(other, at({}, other.name), diagnostics);
    else {
      const message = `${chosen.name} and ${other.name} both hold calls; keep one of them`;
      diagnostics.add("FIELD_CONFLICT", at({}, other.name), { message });
    }
  }
  return calls;
}

const SHAPE = 'A plan is {"steps": [{"id", "tool", "arguments"}]} or a list of calls';

function withCalls(
  given: { calls: JsonValue[] } & Partial<PlanDocument>,
  diagnostics: DiagnosticCollector,
): PlanDocument | undefined {
  const document = { ...given, calls: withoutProse(given.calls, diagnostics) };
  if (document.calls.length === 0) {
    diagnostics.add("PLAN_EMPTY", at({}, "steps"), {
      message: "The plan has no steps; it needs at least one",
    });
    return undefined;
  }
  return {
    outputs: undefined,
    executionOrder: undefined,
    literals: [],
    policy: undefined,
    limits: undefined,
    ...document,
  };
}

const LiteralsSchema = PlanSchema.shape.literals.unwrap();

function readLiterals(value: JsonValue | undefined, diagnostics: DiagnosticCollector): readonly string[] {
  if (value === undefined) return [];
  const parsed = LiteralsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = "literals is a list of at most 1000 texts of at most 300 characters";
  diagnostics.add("FIELD_INVALID", at({}, "literals"), { message });
  return [];
}

/** Removes blocks of text and thinking that models put between their calls. */
function withoutProse(calls: readonly JsonValue[], diagnostics: DiagnosticCollector): JsonValue[] {
  return calls.filter((call, index) => {
    const isProse = isProseBlock(call);
    if (isProse) addNote({ name: "text", value: call }, at({}, "steps", index), diagnostics);
    return !isProse;
  });
}

function holdsCalls(value: JsonValue): boolean {
  const calls = callsIn(value) ?? [];
  return calls.some(isCall) && !isCatalogue(calls);
}

/** True for a list of the used tools: names or definitions. */
function isListOfTools(value: JsonValue): boolean {
  return Array.isArray(value) && (value.every((item) => typeof item === "string") || isCatalogue(value));
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Outputs as written in a document: names of steps or tools, or parts by name. */
type WrittenOutputs = readonly string[] | JsonObject;

/** Outputs in canonical form, and the references in their parts; keys are relative to `outputs`. */
interface ReadOutputs {
  readonly outputs: Outputs;
  readonly references: readonly DraftReference[];
}

/** Context for reading outputs. */
interface OutputsContext {
  readonly names: Names;
  /** Candidates for similar names. */
  readonly candidates: () => Iterable<string>;
  readonly diagnostics: DiagnosticCollector;
  readonly translator: Translator;
}

const OUTPUTS_SHAPE = `is a list of at most ${MAX_OUTPUTS} step ids, or at most ${MAX_OUTPUT_PARTS} values with references by name`;

/**
 * Reads outputs in any form: a step id, a list of ids, parts by name, or a list of `{name, value}` (for
 * schemas without free names). No outputs means all steps, and gives undefined.
 */
function readOutputsField(
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
  diagnostics.add("FIELD_INVALID", at({}, "outputs"), { message: `${name} ${OUTPUTS_SHAPE}` });
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
