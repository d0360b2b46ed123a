import type { z } from "zod";
import { cut, type DiagnosticCollector, didYouMean, type Where } from "../document/diagnostic.ts";
import {
  isAffirmation,
  isAgainstRunning,
  isNoteName,
  looksLikeEffect,
  plainName,
  saysNothing,
} from "../document/field-words.ts";
import type { DraftStep } from "../document/plan.ts";
import { fromJsonText, jsonEquals, stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { Catalogue } from "../validation/catalogue.ts";

/** Names of the fields of a call in all dialects and by habits of models. */
export const CALL_FIELDS: FieldNames = {
  tool: ["tool", "toolName", "toolId", "functionName", "actionName"],
  arguments: [
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "inputs",
    "kwargs",
    "toolInput",
    "toolInputs",
    "toolArgs",
    "toolArguments",
    "toolParameters",
    "toolParams",
    "actionInput",
    "inputParameters",
    "inputArguments",
    "functionArguments",
    "functionArgs",
    "with",
  ],
};

/**
 * Fields that name the tool when no field of {@link CALL_FIELDS} does; otherwise they are labels of the step.
 */
export const LABEL_FIELDS: FieldNames = {
  name: ["name"],
  function: ["function", "functionCall", "toolUse", "toolCall"],
  action: ["action"],
  operation: ["operation"],
  task: ["task"],
  method: ["method"],
  command: ["command"],
  api: ["api"],
  operator: ["operator"],
  uses: ["uses"],
};

/** Fields of a document that may contain its calls. */
export const CALL_LISTS = ["steps", "tools", "calls"] as const;

const plainNames = (names: readonly string[] | undefined) => new Set((names ?? []).map(plainName));
const TOOLS = plainNames(CALL_FIELDS["tool"]);
const ARGUMENTS = plainNames(CALL_FIELDS["arguments"]);
const LABELS = plainNames(Object.values(LABEL_FIELDS).flat());
const COMMON = new Set(["input", "inputs", "params", "with"]);
const NESTED = plainNames(LABEL_FIELDS["function"]);

/** True for a field that holds the arguments of a call. */
export function isArgumentsField(name: string): boolean {
  return ARGUMENTS.has(plainName(name));
}

/** True for a field that names the tool of a call. */
export function isToolField(name: string): boolean {
  const plain = plainName(name);
  return TOOLS.has(plain) || plain === "name";
}

/** True for a field that may name a tool, or be a label of a step: `action`, `operation`, `step`. */
function isLabelField(name: string): boolean {
  const plain = plainName(name);
  return plain === "step" || (LABELS.has(plain) && plain !== "name" && plain !== "task");
}

/**
 * True for a field that only calls have: it names a tool or contains arguments, and other JSON rarely has
 * this name.
 */
export function isCallField(name: string): boolean {
  const plain = plainName(name);
  return (TOOLS.has(plain) || ARGUMENTS.has(plain)) && !COMMON.has(plain);
}

/** True for a field that contains a nested call: `{function: {name, arguments}}`. */
export function isNestedCallField(name: string): boolean {
  return NESTED.has(plainName(name));
}

/** True for a value that can only be a call: it names a tool, or has another name and arguments. */
export function isCall(value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  let isLabelled = false;
  let hasArguments = false;
  for (const [name, field] of Object.entries(value)) {
    const plain = plainName(name);
    if (TOOLS.has(plain) || (plain === "foreach" && isJsonObject(field))) return true;
    if (NESTED.has(plain) && isJsonObject(field)) return true;
    isLabelled ||= LABELS.has(plain) && typeof field === "string";
    hasArguments ||= ARGUMENTS.has(plain);
  }
  return isLabelled && hasArguments;
}

/**
 * The calls in a field of a document: a list, an object of calls by id, or a single call; undefined for any
 * other value.
 */
export function callsIn(value: JsonValue | undefined): JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  if (isCall(value)) return [value];
  const ids = Object.keys(value);
  if (ids.length === 0 || !ids.every((id) => isCall(value[id]))) return undefined;
  return ids.map((id) => withId(id, value[id] ?? null));
}

/** Adds the id to a call. An id inside the call must be the same. */
function withId(id: string, call: JsonValue): JsonValue {
  if (!isJsonObject(call)) return call;
  const said = Object.entries(call).filter(([, value]) => value !== null);
  return { stepId: id, ...Object.fromEntries(said) };
}

/** True for a list of tool definitions, which models sometimes repeat: their parameters are a schema. */
export function isCatalogue(list: readonly JsonValue[]): boolean {
  const isOffer = (item: JsonValue) => {
    if (!isJsonObject(item)) return false;
    if (["inputSchema", "input_schema"].some((name) => Object.hasOwn(item, name))) return true;
    const { function: wrapped } = item;
    const { parameters } = isJsonObject(wrapped) ? wrapped : item;
    return (
      isJsonObject(parameters) && parameters["type"] === "object" && isJsonObject(parameters["properties"])
    );
  };
  return list.length > 0 && list.every(isOffer);
}

const PROSE_TYPES = new Set(["text", "thinking", "redactedthinking", "reasoning", "message", "outputtext"]);
const PROSE_FIELDS = new Set(
  "type id text thinking reasoning signature summary content data role status annotations".split(" "),
);

/** True for a block of an answer with text and without a call: `{type: "text", text}`, `{text}`. */
export function isProseBlock(value: JsonValue): boolean {
  if (!isJsonObject(value) || isCall(value)) return false;
  const { type } = value;
  const names = Object.keys(value).map(plainName);
  if (!names.every((name) => PROSE_FIELDS.has(name))) return false;
  return typeof type === "string" ? PROSE_TYPES.has(plainName(type)) : names.join() === "text";
}

/**
 * Field names by canonical field, the canonical name first. Spellings that differ only in case or separators
 * need no entry.
 */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

/**
 * Fields under their canonical names. A null field counts as absent: structured model output cannot leave
 * fields out.
 */
export type Fields = ReadonlyMap<string, { readonly value: JsonValue; readonly name: string }>;

/** A field that no dialect defines. */
export interface UnknownField {
  readonly name: string;
  readonly value: JsonValue;
}

/** The known and unknown fields of an object. */
export interface ReadFields {
  readonly fields: Fields;
  readonly unknown: readonly UnknownField[];
}

/**
 * Reads the fields of an object under any of their names. A field with two different values gets a
 * diagnostic.
 */
export function readFields(
  object: JsonObject,
  names: FieldNames,
  where: Where,
  diagnostics: DiagnosticCollector,
): ReadFields {
  const canonical = canonicalNames(names);
  const fields = new Map<string, { value: JsonValue; name: string }>();
  const unknown: UnknownField[] = [];
  for (const name of Object.keys(object)) {
    const value = object[name] ?? null;
    if (value === null) continue;
    const field = canonical.get(plainName(name));
    const before = field === undefined ? undefined : fields.get(field);
    if (field === undefined) unknown.push({ name, value });
    else if (!before) fields.set(field, { value, name });
    else if (!jsonEquals(before.value, value)) {
      const message = `${before.name} and ${name} mean the same field; keep one of them`;
      diagnostics.add("FIELD_CONFLICT", at(where, name), { message });
    }
  }
  return { fields, unknown };
}

/** Adds the diagnostic for a field that does not exist. */
export function unknownField(
  name: string,
  known: Iterable<string>,
  where: Where,
  diagnostics: DiagnosticCollector,
): void {
  const suggestion = diagnostics.nearest(name, known);
  const of = where.step ? `step ${where.step.id}` : "the plan";
  const message = `${of} has no field ${cut(name)}${didYouMean(suggestion)}`;
  diagnostics.add("FIELD_UNKNOWN", at(where, cut(name)), { message, suggestion });
}

/** Adds diagnostics for the issues of a zod schema. @param known - names of fields, for suggestions */
export function addIssues(
  error: z.ZodError,
  where: Where,
  known: Iterable<string>,
  diagnostics: DiagnosticCollector,
): void {
  for (const issue of error.issues) {
    const place = at(where, ...issue.path.map((key) => (typeof key === "number" ? key : String(key))));
    if (issue.code === "unrecognized_keys") {
      for (const name of issue.keys) unknownField(name, known, place, diagnostics);
      continue;
    }
    const of = where.step ? `step ${where.step.id}: ` : "";
    diagnostics.add("FIELD_INVALID", place, { message: `${of}${place.keys?.join(".")}: ${issue.message}` });
  }
}

/** The location below these keys. */
export function at(where: Where, ...keys: (string | number)[]): Where {
  return { ...where, keys: [...(where.keys ?? []), ...keys] };
}

const known = new WeakMap<FieldNames, ReadonlyMap<string, string>>();

/** Canonical fields by their names in plain form. */
function canonicalNames(names: FieldNames): ReadonlyMap<string, string> {
  let map = known.get(names);
  if (!map) {
    map = new Map(
      Object.entries(names).flatMap(([field, all]) => all.map((name) => [plainName(name), field] as const)),
    );
    known.set(names, map);
  }
  return map;
}

/*
 * Handles fields that no dialect defines. A field that changes no call is a note: it is not part of the plan,
 * a warning reports it, and services store the original text. A field that might change a call is refused,
 * because without it a different call would be made.
 */

/** Fields that number steps; they mean nothing when they contain the step's own position. */
const PLACES = new Set(
  ["step", "stepNumber", "stepIndex", "stepNo", "order", "index", "number", "no", "sequence"]
    .concat(["position", "executionOrder", "priority"])
    .map(plainName),
);

/** Context for judging the fields of a step. */
interface StepJudging {
  /** Undefined without a catalogue, or when the tool is unknown. */
  readonly tool: ToolDescriptor | undefined;
  /** Names for suggestions. */
  readonly known: Iterable<string>;
  readonly diagnostics: DiagnosticCollector;
  /** Keys below the step, when the fields are nested. */
  readonly below?: readonly string[];
}

/** Judges the unknown fields of a step, after its call is read. */
export function judgeStepFields(
  unknown: readonly UnknownField[],
  step: DraftStep,
  { tool, known, diagnostics, below = [] }: StepJudging,
): void {
  const place = { step, keys: below };
  for (const field of unknown) {
    const where = at(place, cut(field.name));
    if (saysNothing(field.name, field.value) || isOwnPlace(field, step.index)) continue;
    if (mayBeArgument(field.name, step, tool)) {
      const message = `step ${step.id}: field ${cut(field.name)} may be an argument of ${step.tool}; put it into the arguments, or leave it out`;
      diagnostics.add("FIELD_UNKNOWN", where, { message });
    } else if (isNote(field)) addNote(field, where, diagnostics);
    else unknownField(field.name, known, place, diagnostics);
  }
}

/**
 * Judges the unknown fields of a document. A plan has no arguments, so plain values with names of unknown
 * meaning are notes.
 */
export function judgePlanFields(
  unknown: readonly UnknownField[],
  known: readonly string[],
  diagnostics: DiagnosticCollector,
): void {
  for (const field of unknown) {
    const { name, value } = field;
    if (saysNothing(name, value)) continue;
    const isPlain = typeof value !== "object" && diagnostics.nearest(name, known) === undefined;
    const isAgainst = isAgainstRunning(field);
    const isNamed =
      plainName(name) === "plan" || (isPlain && !isAgainst && !looksLikeEffect(name) && !isAffirmation(name));
    if (isNote(field) || (isNamed && !holdsCalls(value))) addNote(field, at({}, cut(name)), diagnostics);
    else unknownField(name, known, {}, diagnostics);
  }
}

/** Adds the warning that a field changes nothing; a plan in canonical form has no such fields. */
export function addNote({ name, value }: UnknownField, where: Where, diagnostics: DiagnosticCollector): void {
  const said = cut(stringifyExactJson(value), 200);
  const message = `field ${cut(name)} says ${said}; it changes no call and is no part of the plan`;
  if (diagnostics.isCanonical) diagnostics.add("FIELD_UNKNOWN", where, { message });
  else diagnostics.add("FIELD_IGNORED", where, { message, severity: "warning" });
}

/**
 * True for a field that changes no call, whatever text it contains. A sentence in a label field is neither a
 * tool nor an argument.
 */
function isNote({ name, value }: UnknownField): boolean {
  if (isAffirmation(name)) return value === true;
  if (isAgainstRunning({ name, value })) return false;
  if (isLabelField(name)) return typeof value === "string" && /\s/.test(value.trim());
  return isNoteName(name) && !holdsCalls(value);
}

/** True for a value with calls: it is not a note, because these calls would be lost. */
function holdsCalls(value: JsonValue): boolean {
  if (isCall(value)) return true;
  const calls = callsIn(value);
  return calls !== undefined && calls.some(isCall);
}

function isOwnPlace({ name, value }: UnknownField, index: number): boolean {
  if (!PLACES.has(plainName(name))) return false;
  return [index, index + 1].some((place) => value === place || value === String(place));
}

/**
 * True for a field that may be an argument, because some models write arguments next to the tool's name: the
 * tool accepts the name, and the arguments do not contain it.
 */
function mayBeArgument(name: string, step: DraftStep, tool: ToolDescriptor | undefined): boolean {
  if (Object.hasOwn(step.arguments, name)) return false;
  const schema = tool?.inputSchema;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

/**
 * The fields of a forEach in any form: `{items, as, do}`; the short forms next to the call of their step,
 * which are only the items (a reference or a list) and `{items, as}`; and the JSON text of these. Otherwise
 * undefined.
 */
export function forEachFields(value: JsonValue): JsonObject | undefined {
  const form = fromJsonText(value);
  if (isJsonObject(form)) return form;
  return typeof form === "string" || Array.isArray(form) ? { items: form } : undefined;
}

const MAX_FIELDS = 1_000;
const MAX_NAME_LENGTH = 256;

/** The steps that provide a field, by field name, in plan order. */
export type Providers = ReadonlyMap<string, readonly DraftStep[]>;

/** The declared fields of a call's output: a name or a list of names. */
export function readProvides(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): string[] {
  const value = fields.get("provides")?.value;
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  const names = list.flatMap((name) =>
    typeof name === "string" && name.length <= MAX_NAME_LENGTH ? [name] : [],
  );
  if (names.length === list.length && list.length <= MAX_FIELDS) return [...new Set(names)];
  const message = `step ${step.id}: provides is a list of at most ${MAX_FIELDS} names of fields`;
  diagnostics.add("FIELD_INVALID", { step, keys: ["provides"] }, { message });
  return [];
}

/** The providers of each field, by calls and by contracts of their tools. */
export function providersOf(steps: readonly DraftStep[], catalogue: Catalogue | undefined): Providers {
  const providers = new Map<string, DraftStep[]>();
  for (const step of steps) {
    const tool = catalogue?.find(step.tool);
    const promised = tool ? (catalogue?.contractOf(tool).provides ?? []) : [];
    for (const field of new Set([...step.provides, ...promised])) {
      const known = providers.get(field);
      if (known) known.push(step);
      else providers.set(field, [step]);
    }
  }
  return providers;
}

/**
 * Makes steps wait for the providers of their missing required arguments, which outputs of dependencies fill
 * in (policy `mergeDependencyOutputs`). Providers before the step are preferred; a step that already waits
 * for one of them keeps its dependencies.
 */
export function addNeededProviders(
  steps: readonly DraftStep[],
  {
    providers,
    catalogue,
    diagnostics,
  }: { providers: Providers; catalogue: Catalogue; diagnostics: DiagnosticCollector },
): void {
  for (const step of steps) {
    const required = catalogue.find(step.tool)?.inputSchema?.["required"];
    if (!Array.isArray(required) || !isJsonObject(step.arguments)) continue;
    for (const field of required) {
      if (typeof field !== "string" || Object.hasOwn(step.arguments, field)) continue;
      addProviders(step, field, providers.get(field) ?? [], diagnostics);
    }
  }
}

function addProviders(
  step: DraftStep,
  field: string,
  all: readonly DraftStep[],
  diagnostics: DiagnosticCollector,
): void {
  const others = all.filter((other) => other !== step);
  const known = new Set([...step.dependsOn, ...step.references.map(({ source }) => source.name)]);
  if (others.length === 0 || others.some(({ id }) => known.has(id))) return;
  const earlier = others.filter(({ index }) => index < step.index);
  const ids = (earlier.length > 0 ? earlier : others).map(({ id }) => id);
  step.dependsOn.push(...ids);
  const message = `step ${step.id} waits for ${ids.slice(0, 10).join(", ")}: its tool ${step.tool} needs ${field}, which they provide`;
  diagnostics.add("DEPENDENCY_ADDED", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
}
