import { cut, type DiagnosticCollector, type Where } from "../document/diagnostic.ts";
import { dependencyNames, plainName } from "../document/field-words.ts";
import {
  argumentKeys,
  CallStepSchema,
  createDraftStep,
  type DraftStep,
  type ForEach,
  ForEachSchema,
  MAX_DEPENDENCIES,
  RetryPolicySchema,
  StepIdSchema,
  ToolNameSchema,
  toolKeys,
} from "../document/plan.ts";
import type { Limits } from "../document/policy.ts";
import { copyJson, type JsonCopy, unfitText } from "../json/copy-json.ts";
import {
  digitsOf,
  fromJsonText,
  isJsonNumber,
  jsonEquals,
  parseJson,
  stringifyExactJson,
} from "../json/exact-json.ts";
import { depthOf, FORBIDDEN_KEYS, isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { checkCondition } from "../reference/condition.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import {
  addIssues,
  at,
  CALL_FIELDS,
  type FieldNames,
  type Fields,
  forEachFields,
  isArgumentsField,
  isCall,
  isToolField,
  judgeStepFields,
  LABEL_FIELDS,
  type ReadFields,
  readFields,
  readProvides,
  type UnknownField,
  unknownField,
} from "./call-fields.ts";
import { toStepId } from "./step-ids.ts";

const STEP_FIELDS: FieldNames = {
  id: ["id", "stepId"],
  callId: ["callId", "toolCallId", "toolUseId", "taskId", "actionId"],
  step: ["step"],
  ...CALL_FIELDS,
  ...LABEL_FIELDS,
  dependsOn: [
    "dependsOn",
    "dependencies",
    "dependency",
    "depends",
    "deps",
    "dep",
    "dependsOnSteps",
    "needs",
    "requires",
    "prerequisites",
    "runAfter",
    "waitFor",
    "waitsFor",
    "upstream",
  ],
  after: ["after"],
  provides: ["provides"],
  type: ["type"],
  when: ["when"],
  forEach: ["forEach"],
  retry: ["retry"],
  timeoutMs: ["timeoutMs"],
  onError: ["onError"],
  approval: ["approval"],
};
/** Fields that a call may contain inside `function` as well as next to it. */
const ORDER_FIELDS = ["dependsOn", "after", "provides"];
const STEP_NAMES = ["id", "tool", "arguments", "dependsOn", "after", "when", "forEach"].concat([
  "retry",
  "timeoutMs",
  "onError",
  "approval",
]);

/** Reads one call of any dialect. Errors become diagnostics; undefined when the value is not a call. */
export function readStep(value: JsonValue, index: number, reading: StepReading): DraftStep | undefined {
  const { diagnostics, catalogue } = reading;
  if (!isJsonObject(value)) {
    const message = `Step ${index} is not an object; a step is {"id", "tool", "arguments"}`;
    diagnostics.add("PLAN_SHAPE", { keys: ["steps", index] }, { message });
    return undefined;
  }
  const step = createDraftStep({ index, id: provisionalId(value, index) });
  const { fields, unknown } = stepFields(value, step, reading);
  readId(fields, step, diagnostics);
  step.labels = readLabels(unknown);
  const forEach = fields.get("forEach");
  if (forEach) readForEach(forEach.value, fields, step, reading);
  else readCall(fields, step, reading);
  judgeStepFields(unknown, step, { tool: catalogue?.find(step.tool), known: STEP_NAMES, diagnostics });
  step.dependsOn = readDependencies(fields, step, diagnostics);
  step.provides = readProvides(fields, step, diagnostics);
  const when = fromJsonText(fields.get("when")?.value ?? null);
  if (when !== null && checkCondition(when, { step, keys: ["when"] }, diagnostics)) step.when = when;
  readOptions(fields, step, diagnostics);
  return step;
}

/**
 * The fields of one call of any dialect under their canonical names: a call inside `function` is unwrapped,
 * and its tool, arguments and id are found under any of their names.
 */
export function stepFields(value: JsonObject, step: DraftStep, reading: StepReading): ReadFields {
  const { diagnostics, catalogue } = reading;
  const outer = readFields(value, STEP_FIELDS, { step }, diagnostics);
  const whole = withStepId(withFunction(outer, step, reading));
  const hasCall = (forEachFields(whole.fields.get("forEach")?.value ?? null)?.["do"] ?? null) !== null;
  return withTool(whole, { catalogue, diagnostics, where: { step }, hasCall });
}

/** A name for diagnostics, until the id is known. */
function provisionalId({ id, tool, name }: JsonObject, index: number): string {
  const known = [id, tool, name].find((text) => typeof text === "string" && text.length <= 64);
  return typeof known === "string" ? known : `step${index + 1}`;
}

const CALL_TYPES = new Set<JsonValue>(
  "function tool call step task action toolcall tooluse functioncall apicall api mcp mcptool mcpcall toolinvocation invocation execute invoke single standard invoketool calltool usetool runtool executetool toolexecution toolrequest operation command request".split(
    " ",
  ),
);

/**
 * The field of a step that contains its call: `function`, or `tool` or `action` when they contain more than a
 * name.
 */
function wrappedCall(fields: Fields) {
  const names = ["tool", ...Object.keys(LABEL_FIELDS)];
  const found = names.flatMap((name) => fields.get(name) ?? []).find(({ value }) => isCall(value));
  return found ?? fields.get("function");
}

/** Unwraps calls of model providers: `{type: "function", function: {name, arguments}}`. */
function withFunction(
  outer: ReadFields,
  step: DraftStep,
  { catalogue, diagnostics }: StepReading,
): ReadFields {
  const type = outer.fields.get("type");
  const isKnown = typeof type?.value === "string" && CALL_TYPES.has(plainName(type.value));
  if (type && !isKnown) unknownField("type", STEP_NAMES, { step }, diagnostics);
  const wrapped = wrappedCall(outer.fields);
  if (!wrapped || typeof wrapped.value === "string") return outer;
  const where = at({ step }, wrapped.name);
  if (!isJsonObject(wrapped.value)) {
    diagnostics.add("FIELD_INVALID", where, {
      message: `step ${step.id}: function is {"name", "arguments"}`,
    });
    return outer;
  }
  const { function: _nested, ...labels } = LABEL_FIELDS;
  const names = {
    callId: ["id", ...(STEP_FIELDS["callId"] ?? [])],
    type: ["type"],
    ...CALL_FIELDS,
    ...Object.fromEntries(ORDER_FIELDS.map((name) => [name, STEP_FIELDS[name] ?? []])),
    ...labels,
  };
  const inner = withTool(readFields(wrapped.value, names, where, diagnostics), {
    catalogue,
    diagnostics,
    where,
  });
  const around = [...outer.fields].filter(([, field]) => field !== wrapped);
  return {
    fields: new Map([...around, ...inner.fields]),
    unknown: [...outer.unknown, ...inner.unknown],
  };
}

function readId(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): void {
  const value = fields.get("id")?.value;
  const id = value === undefined ? undefined : numberAsText(value);
  if (id === undefined || (typeof id === "string" && id.trim() === "")) return;
  step.hasOwnId = true;
  if (typeof id === "string" && !FORBIDDEN_KEYS.has(id)) {
    step.id = cut(id, 64);
    if (!StepIdSchema.safeParse(id).success) step.writtenId = id;
    return;
  }
  const suggestion = toStepId(typeof id === "string" ? id : JSON.stringify(id));
  const message = `step ${step.index}: ${cut(JSON.stringify(id))} is no step id; one is a letter and up to 63 letters, digits, _ or -, such as ${suggestion}`;
  diagnostics.add("STEP_ID_INVALID", { step, keys: ["id"] }, { message, suggestion });
  step.id = typeof id === "string" ? cut(id, 64) : suggestion;
}

/** Ids may be written as numbers. */
function numberAsText(value: JsonValue): JsonValue {
  return isJsonNumber(value) ? digitsOf(value) : value;
}

const OptionsSchema = CallStepSchema.pick({ retry: true, timeoutMs: true, onError: true, approval: true });
const RETRY_FIELDS = Object.keys(RetryPolicySchema.shape);
const OPTION_NAMES = ["retry", "timeoutMs", "onError", "approval"] as const;

function readOptions(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): void {
  const given = OPTION_NAMES.flatMap((name) => {
    const field = fields.get(name);
    return field ? [[name, field.value] as const] : [];
  });
  if (given.length === 0) return;
  const parsed = OptionsSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) step.options = parsed.data;
  else addIssues(parsed.error, { step }, RETRY_FIELDS, diagnostics);
}

/**
 * The explicit dependencies of a step, as written: steps or tools, in any form of `dependencyNames`. Any
 * other value gets a diagnostic.
 */
function readDependencies(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): string[] {
  const names = ["dependsOn", "after"].flatMap((field) => {
    const value = fields.get(field)?.value;
    if (value === undefined) return [];
    const read = dependencyNames(value)?.map(({ name }) => name);
    if (read && read.length <= MAX_DEPENDENCIES) return read;
    const message = `step ${step.id}: ${field} is a list of at most ${MAX_DEPENDENCIES} step ids, not ${cut(stringifyExactJson(value))}`;
    diagnostics.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
    return [];
  });
  return [...new Set(names)];
}

/** Fields in which authors give a step or its output another name. */
const LABELS = new Set(
  (
    "label name alias as var variable variablename output outputname outputvariable outputvar outputkey outputas outputlabel " +
    "result resultname resultvariable resultvar resultkey resultas saveas saveresultas saveoutputas saveto storeas storeresultas " +
    "storeresultin storein assignto assign bindto produces returns returnvalue"
  ).split(" "),
);
/** Longer texts are sentences, not names. */
const MAX_LENGTH = 64;
/** Template brackets around a name: `{{author}}`, `<author>`. */
const WRAPPED = /^(?:\{\{?|<<?|\[\[?|\$\{|%)\s*([^{}<>[\]%]+?)\s*(?:\}\}?|>>?|\]\]?|%)$/;

/**
 * Further names of a step for references: `save_as: "author"`, `label: "$var1"`, `name` next to a tool. A
 * label counts only when it is not an id in the plan, so it never changes the meaning of an id.
 */
function readLabels(unknown: readonly UnknownField[]): string[] {
  const labels = unknown.flatMap(({ name, value }) => {
    if (typeof value !== "string" || !LABELS.has(plainName(name))) return [];
    const label = value.trim();
    return [WRAPPED.exec(label)?.[1] ?? label];
  });
  return [...new Set(labels.filter((label) => label !== "" && label.length <= MAX_LENGTH))];
}

const FOR_EACH_NAMES = Object.keys(ForEachSchema.shape);

/**
 * Reads a forEach and its call into a step. The call is in `do`, or next to the forEach in the step.
 * @param outer - the fields of the step
 */
function readForEach(value: JsonValue, outer: Fields, step: DraftStep, reading: StepReading): void {
  const { diagnostics } = reading;
  const fields = forEachFields(value);
  const isShort = outer.has("tool") && (fields?.["do"] ?? null) === null;
  if (!fields || (!isShort && !isJsonObject(fromJsonText(value)))) {
    const message = `step ${step.id}: forEach is ${FORMS}`;
    diagnostics.add("FIELD_INVALID", { step, keys: ["forEach"] }, { message });
    return;
  }
  const { items, do: call, when: condition = null, ...others } = fields;
  const given = Object.fromEntries(Object.entries(others).filter(([, field]) => field !== null));
  // Items and arguments are already JSON and may be large: only the other fields are parsed.
  const parsed = ForEachSchema.safeParse({ ...given, items: [], do: { tool: "tool", arguments: {} } });
  if (!parsed.success) addIssues(parsed.error, { step, keys: ["forEach"] }, FOR_EACH_NAMES, diagnostics);
  const base: ForEach = parsed.success ? parsed.data : { ...DEFAULT_FOR_EACH };
  step.forEach = { ...base, items: readItems(items, step, reading) };
  const when = fromJsonText(condition);
  if (when !== null && checkCondition(when, { step, keys: ["forEach", "when"] }, diagnostics))
    step.forEach.when = when;
  if (isShort) readCall(outer, step, reading);
  else if (isJsonObject(call)) {
    checkOuter(outer, call, step, diagnostics);
    readInnerCall(call, step, reading);
  } else {
    const message = `step ${step.id}: forEach.do is {"tool", "arguments"}; or give the step itself a "tool" and "arguments" beside forEach`;
    diagnostics.add("FIELD_MISSING", { step, keys: ["forEach", "do"] }, { message });
    return;
  }
  checkAlias(step, diagnostics);
}

function readInnerCall(call: JsonObject, step: DraftStep, reading: StepReading): void {
  const { catalogue, diagnostics } = reading;
  const where = { step, keys: ["forEach", "do"] };
  const read = readFields(call, { ...CALL_FIELDS, ...LABEL_FIELDS }, where, diagnostics);
  const { fields, unknown } = withTool(read, { catalogue, diagnostics, where });
  readCall(fields, step, reading);
  const known = Object.keys(CALL_FIELDS);
  const tool = catalogue?.find(step.tool);
  judgeStepFields(unknown, step, { tool, known, diagnostics, below: where.keys });
}

const FORMS =
  'the reference to a list beside "tool" and "arguments", such as "<<find.hits>>", or {"items", "as", "do": {"tool", "arguments"}}';

/** When the forEach contains the call, the same fields of the step must be equal or empty. */
function checkOuter(
  outer: Fields,
  call: JsonObject,
  step: DraftStep,
  diagnostics: DiagnosticCollector,
): void {
  for (const [name, isFieldOf] of [
    ["tool", isToolField],
    ["arguments", isArgumentsField],
  ] as const) {
    const field = outer.get(name);
    const inner = Object.entries(call).find(([key]) => isFieldOf(key))?.[1] ?? null;
    if (!field || isEmpty(field.value) || jsonEquals(fromJsonText(field.value), fromJsonText(inner)))
      continue;
    const message = `step ${step.id}: ${field.name} is beside forEach and in forEach.do; keep one of them`;
    diagnostics.add("FIELD_CONFLICT", { step, keys: [field.name] }, { message });
  }
}

const isEmpty = (value: JsonValue) => {
  const read = fromJsonText(value);
  return read === "" || (isJsonObject(read) && Object.keys(read).length === 0);
};

const DEFAULT_FOR_EACH: ForEach = {
  items: [],
  as: "item",
  do: { tool: "tool", arguments: {} },
};

function readItems(
  items: JsonValue | undefined,
  step: DraftStep,
  { limits, diagnostics }: StepReading,
): ForEach["items"] {
  const where = { step, keys: ["forEach", "items"] };
  if (typeof items === "string") return items;
  if (!Array.isArray(items)) {
    const message = `step ${step.id}: forEach.items is a list, or a reference to one`;
    diagnostics.add(items === undefined ? "FIELD_MISSING" : "FOREACH_ITEMS_NOT_LIST", where, { message });
    return [];
  }
  if (items.length > limits.maxItems) {
    const message = `step ${step.id}: forEach has ${items.length} items; at most ${limits.maxItems} are allowed`;
    diagnostics.add("LIMIT_ITEMS", where, { message });
  }
  return items;
}

function checkAlias(step: DraftStep, diagnostics: DiagnosticCollector): void {
  if (step.forEach?.as !== "index" && !FORBIDDEN_KEYS.has(step.forEach?.as ?? "")) return;
  const message = `step ${step.id}: forEach.as cannot be ${step.forEach?.as}; choose another name, such as item`;
  diagnostics.add(
    "FOREACH_ALIAS_CONFLICT",
    { step, keys: ["forEach", "as"] },
    { message, suggestion: "item" },
  );
}

type Field = { readonly value: JsonValue; readonly name: string };

/** Context for reading labels. */
interface Naming {
  readonly catalogue: Catalogue | undefined;
  readonly diagnostics: DiagnosticCollector;
  readonly where: Where;
  /** The call is in another field, so no label can name its tool. */
  readonly hasCall?: boolean;
}

/**
 * Takes the tool of a call from one of its labels, when no other field names it: `{name, parameters}`,
 * `{action, action_input}`. With a catalogue a label that is a tool wins over one that is not. Other labels
 * stay ordinary fields.
 */
function withTool(
  { fields, unknown }: ReadFields,
  { catalogue, diagnostics, where, hasCall = false }: Naming,
): ReadFields {
  const labels = Object.keys(LABEL_FIELDS).flatMap((name) => {
    const field = fields.get(name);
    return field && !isJsonObject(field.value) ? [[name, field] as const] : [];
  });
  const own = fields.get("tool");
  const named = own ?? (hasCall ? undefined : chosen(labels, catalogue));
  const others = labels.filter(([, field]) => field !== named);
  const rest = new Map([...fields].filter(([name]) => !labels.some(([label]) => label === name)));
  if (named) rest.set("tool", named);
  const left: UnknownField[] = [];
  for (const [, field] of others) {
    if (named && field.value === named.value) continue;
    if (!named || !isTool(field, catalogue)) left.push(field);
    else {
      const message = `${named.name} and ${field.name} name two tools; a step calls one`;
      diagnostics.add("FIELD_CONFLICT", at(where, field.name), { message });
    }
  }
  return { fields: rest, unknown: [...unknown, ...left] };
}

/** The label that names a known tool; otherwise, or without a catalogue, the first one. */
function chosen(
  labels: readonly (readonly [string, Field])[],
  catalogue: Catalogue | undefined,
): Field | undefined {
  const known = labels.find(([, field]) => isTool(field, catalogue));
  return (known ?? labels[0])?.[1];
}

function isTool({ value }: Field, catalogue: Catalogue | undefined): boolean {
  return typeof value === "string" && catalogue?.find(value) !== undefined;
}

/**
 * Takes the id of a step without one from its call, or from `step: "find"`; a number or a sentence there is
 * not an id.
 */
function withStepId({ fields, unknown }: ReadFields): ReadFields {
  const rest = new Map(fields);
  const left = [...unknown];
  for (const name of ["callId", "step"]) {
    const field = rest.get(name);
    rest.delete(name);
    if (!field) continue;
    const isId = name === "callId" || StepIdSchema.safeParse(field.value).success;
    if (isId && !rest.has("id")) rest.set("id", field);
    else if (field.value !== rest.get("id")?.value) left.push(field);
  }
  return { fields: rest, unknown: left };
}

/** Context for reading the calls of a plan. */
interface StepReading {
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

/** Levels that the document adds around the arguments, to which the limit applies. */
const LEVELS_AROUND_ARGUMENTS = 8;
/** Indented text is larger than the document; text over this factor is refused without parsing. */
const TEXT_FACTOR = 8;

/**
 * A copy of the input as JSON, from a value or from JSON text; undefined, with a diagnostic, when it is not
 * JSON or too large.
 */
export function readValue(
  input: unknown,
  limits: Limits,
  diagnostics: DiagnosticCollector,
): JsonValue | undefined {
  if (typeof input !== "string") return copyWithin(input, limits, diagnostics);
  if (input.length > limits.maxBytes * TEXT_FACTOR) {
    tooLarge(limits, diagnostics);
    return undefined;
  }
  const parsed = parseJson(input);
  if (parsed.ok) return copyWithin(parsed.value, limits, diagnostics);
  const message = `The plan is not valid JSON: ${parsed.message}`;
  diagnostics.add("PLAN_NOT_JSON", {}, { message });
  return undefined;
}

function copyWithin(input: unknown, limits: Limits, diagnostics: DiagnosticCollector): JsonValue | undefined {
  const { maxBytes, maxDepth } = limits;
  const copy = copyJson(input, { maxBytes, maxDepth: maxDepth + LEVELS_AROUND_ARGUMENTS });
  if (copy.ok) {
    refuseUnfit(copy, diagnostics);
    return copy.value;
  }
  switch (copy.problem) {
    case "not-json":
      diagnostics.add(
        "PLAN_NOT_JSON",
        {},
        { message: `The plan holds something that is not JSON at ${copy.path}` },
      );
      return undefined;
    case "too-deep":
      diagnostics.add(
        "LIMIT_DEPTH",
        {},
        { message: `The plan is nested deeper than ${maxDepth} levels at ${copy.path}` },
      );
      return undefined;
    case "too-large":
      tooLarge(limits, diagnostics);
      return undefined;
  }
}

/** Reports a field or a text that no plan can have, so that no argument is lost or changed without a word. */
function refuseUnfit({ unfit }: JsonCopy, diagnostics: DiagnosticCollector, where: Where = {}): void {
  if (unfit === undefined) return;
  const code = unfit.problem === "half character" ? "PLAN_NOT_JSON" : "FIELD_UNKNOWN";
  diagnostics.add(code, where, { message: unfitText(unfit) });
}

function tooLarge({ maxBytes }: Limits, diagnostics: DiagnosticCollector): void {
  diagnostics.add("LIMIT_BYTES", {}, { message: `The plan is larger than ${maxBytes} bytes; split it` });
}
