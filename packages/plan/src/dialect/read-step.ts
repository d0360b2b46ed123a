import { z } from "zod";
import { checkCondition } from "../condition/check-condition.ts";
import { StepIdSchema, ToolNameSchema } from "../ids.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { copyJson } from "../json-copy.ts";
import type { Limits } from "../limits.ts";
import { FORBIDDEN_KEYS } from "../own-property.ts";
import { CallStepSchema, type ForEach, ForEachSchema } from "../step.ts";
import { cut, type Findings } from "../validation/findings.ts";
import { argumentKeys, type DraftStep, toolKeys } from "./draft-step.ts";
import { at, type FieldNames, type Fields, readFields, unknownField } from "./read-fields.ts";
import { depthOf, parseJson } from "./read-value.ts";
import { toStepId } from "./step-ids.ts";

/** Names of the fields of a call in all dialects. */
const CALL_FIELDS: FieldNames = {
  tool: ["tool", "name", "toolName", "tool_name"],
  arguments: ["arguments", "parameters", "args", "input", "params"],
};
const STEP_FIELDS: FieldNames = {
  id: ["id", "callId", "stepId", "step_id"],
  ...CALL_FIELDS,
  dependsOn: ["dependsOn", "depends_on", "dependencies"],
  after: ["after"],
  type: ["type"],
  function: ["function"],
  when: ["when"],
  forEach: ["forEach"],
  retry: ["retry"],
  timeoutMs: ["timeoutMs"],
  onError: ["onError"],
  approval: ["approval"],
};
const MAX_DEPENDENCIES = 1_000;

/** What the calls of a plan are read with. */
export interface StepReading {
  readonly limits: Limits;
  readonly findings: Findings;
}

/** Reads one call of any dialect. What is wrong with it becomes findings; undefined when it is no call at all. */
export function readStep(value: JsonValue, index: number, reading: StepReading): DraftStep | undefined {
  const { findings } = reading;
  if (!isJsonObject(value)) {
    const message = `Step ${index} is not an object; a step is {"id", "tool", "arguments"}`;
    findings.add("PLAN_SHAPE", { keys: ["steps", index] }, { message });
    return undefined;
  }
  const step = emptyStep(value, index);
  const outer = readFields(value, STEP_FIELDS, { step }, findings);
  const fields = withFunction(outer, step, findings);
  readId(fields, step, findings);
  const forEach = fields.get("forEach");
  if (forEach) readForEach(forEach.value, fields, step, reading);
  else readCall(fields, step, reading);
  step.dependsOn = readDependencies(fields, step, findings);
  const when = fields.get("when");
  if (when && checkCondition(when.value, step, findings)) step.when = when.value;
  readOptions(fields, step, findings);
  return step;
}

function emptyStep(value: JsonObject, index: number): DraftStep {
  const { id, tool, name } = value;
  const known = [id, tool, name].find((text) => typeof text === "string" && text.length <= 64);
  return {
    index,
    id: typeof known === "string" ? known : `step${index + 1}`,
    hasOwnId: false,
    tool: "",
    arguments: {},
    forEach: undefined,
    when: undefined,
    dependsOn: [],
    options: {},
    references: [],
  };
}

const CALL_TYPES = new Set<JsonValue>(["function", "tool_call", "tool_use", "call"]);

/** The calls of model providers wrap name and arguments: `{type: "function", function: {name, arguments}}`. */
function withFunction(fields: Fields, step: DraftStep, findings: Findings): Fields {
  const type = fields.get("type");
  if (type && !CALL_TYPES.has(type.value)) unknownField("type", Object.keys(STEP_FIELDS), { step }, findings);
  const wrapped = fields.get("function")?.value;
  if (wrapped === undefined) return fields;
  const where = at({ step }, "function");
  if (!isJsonObject(wrapped)) {
    findings.add("FIELD_INVALID", where, { message: `step ${step.id}: function is {"name", "arguments"}` });
    return fields;
  }
  return new Map([...fields, ...readFields(wrapped, CALL_FIELDS, where, findings)]);
}

function readId(fields: Fields, step: DraftStep, findings: Findings): void {
  const id = fields.get("id")?.value;
  if (id === undefined) return;
  step.hasOwnId = true;
  if (typeof id === "string" && StepIdSchema.safeParse(id).success && !FORBIDDEN_KEYS.has(id)) {
    step.id = id;
    return;
  }
  const suggestion = toStepId(typeof id === "string" ? id : JSON.stringify(id));
  const message = `step ${index(step)}: ${cut(JSON.stringify(id))} is no step id; one is a letter and up to 63 letters, digits, _ or -, such as ${suggestion}`;
  findings.add("STEP_ID_INVALID", { step, keys: ["id"] }, { message, suggestion });
  step.id = typeof id === "string" ? cut(id, 64) : suggestion;
}

function index(step: DraftStep): number {
  return step.index;
}

function readCall(fields: Fields, step: DraftStep, reading: StepReading): void {
  readTool(fields, step, reading.findings);
  const args = fields.get("arguments")?.value;
  if (args !== undefined) step.arguments = readArguments(args, step, reading);
}

function readTool(fields: Fields, step: DraftStep, findings: Findings): void {
  const tool = fields.get("tool")?.value;
  const where = { step, keys: toolKeys(step) };
  if (tool === undefined) {
    findings.add("FIELD_MISSING", where, { message: `step ${step.id} names no tool` });
  } else if (typeof tool !== "string" || !ToolNameSchema.safeParse(tool).success) {
    const shown = cut(JSON.stringify(tool));
    findings.add("TOOL_NAME_INVALID", where, {
      message: `step ${step.id}: ${shown} cannot be the name of a tool`,
    });
  } else step.tool = tool;
}

/** Arguments as an object, or as JSON text of one; an empty text is no arguments. */
function readArguments(value: JsonValue, step: DraftStep, { limits, findings }: StepReading): JsonObject {
  const where = { step, keys: argumentKeys(step) };
  const args = typeof value === "string" ? readArgumentText(value, step, findings) : value;
  if (args === undefined) return {};
  if (!isJsonObject(args)) {
    const message = `step ${step.id}: arguments are an object {"name": value}, or JSON text of one`;
    findings.add("ARGUMENTS_NOT_OBJECT", where, { message });
    return {};
  }
  if (depthOf(args, limits.maxDepth) > limits.maxDepth) {
    const message = `step ${step.id}: arguments are nested deeper than ${limits.maxDepth} levels`;
    findings.add("LIMIT_DEPTH", where, { message });
    return {};
  }
  return args;
}

function readArgumentText(text: string, step: DraftStep, findings: Findings): JsonValue | undefined {
  if (text.trim() === "") return {};
  const parsed = parseJson(text);
  // The text was inside the document's byte limit, so its JSON is small; the copy drops what a document cannot hold.
  const copy = parsed.ok ? copyJson(parsed.value, { maxDepth: 1_000, maxBytes: text.length * 4 }) : undefined;
  if (copy?.ok) return copy.value;
  const reason = parsed.ok ? "nested too deep" : parsed.message;
  const message = `step ${step.id}: the text of its arguments is not JSON of an object (${reason}); write an object`;
  findings.add("ARGUMENTS_NOT_JSON", { step, keys: argumentKeys(step) }, { message });
  return undefined;
}

function readDependencies(fields: Fields, step: DraftStep, findings: Findings): string[] {
  const names = ["dependsOn", "after"].flatMap((field) => {
    const value = fields.get(field)?.value;
    if (value === undefined) return [];
    const list = typeof value === "string" ? [value] : value;
    if (
      Array.isArray(list) &&
      list.length <= MAX_DEPENDENCIES &&
      list.every((name) => typeof name === "string")
    ) {
      return list.filter((name) => name !== "");
    }
    const message = `step ${step.id}: ${field} is a list of at most ${MAX_DEPENDENCIES} step ids`;
    findings.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
    return [];
  });
  return [...new Set(names)];
}

const OptionsSchema = CallStepSchema.pick({ retry: true, timeoutMs: true, onError: true, approval: true });
const OPTION_NAMES = ["retry", "timeoutMs", "onError", "approval"] as const;

function readOptions(fields: Fields, step: DraftStep, findings: Findings): void {
  const given = OPTION_NAMES.flatMap((name) => {
    const field = fields.get(name);
    return field ? [[name, field.value] as const] : [];
  });
  if (given.length === 0) return;
  const parsed = OptionsSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) step.options = parsed.data;
  else addIssues(parsed.error, step, [], findings);
}

/** Findings for what a zod schema refuses. */
function addIssues(error: z.ZodError, step: DraftStep, below: readonly string[], findings: Findings): void {
  for (const issue of error.issues) {
    const keys = [...below, ...issue.path.map((key) => (typeof key === "number" ? key : String(key)))];
    if (issue.code === "unrecognized_keys") {
      for (const name of issue.keys) unknownField(name, FOR_EACH_NAMES, { step, keys }, findings);
      continue;
    }
    const name = keys.join(".");
    findings.add("FIELD_INVALID", { step, keys }, { message: `step ${step.id}: ${name}: ${issue.message}` });
  }
}

const DO_FIELDS: FieldNames = CALL_FIELDS;
const FOR_EACH_NAMES = Object.keys(ForEachSchema.shape);

function readForEach(value: JsonValue, outer: Fields, step: DraftStep, reading: StepReading): void {
  const { findings } = reading;
  for (const name of ["tool", "arguments"]) {
    const field = outer.get(name);
    if (!field) continue;
    const message = `step ${step.id}: ${field.name} and forEach exclude each other; put it into forEach.do`;
    findings.add("FIELD_CONFLICT", { step, keys: [field.name] }, { message });
  }
  if (!isJsonObject(value)) {
    const message = `step ${step.id}: forEach is {"items", "as", "do": {"tool", "arguments"}}`;
    findings.add("FIELD_INVALID", { step, keys: ["forEach"] }, { message });
    return;
  }
  const { items, do: call } = value;
  const given = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
  // Items and arguments are JSON already and may be many: only what is around them is parsed.
  const parsed = ForEachSchema.safeParse({ ...given, items: [], do: { tool: "tool", arguments: {} } });
  if (!parsed.success) addIssues(parsed.error, step, ["forEach"], findings);
  const base: ForEach = parsed.success ? parsed.data : { ...DEFAULT_FOR_EACH };
  step.forEach = { ...base, items: readItems(items, step, reading) };
  if (!isJsonObject(call)) {
    const message = `step ${step.id}: forEach.do is {"tool", "arguments"}`;
    findings.add("FIELD_MISSING", { step, keys: ["forEach", "do"] }, { message });
    return;
  }
  readCall(readFields(call, DO_FIELDS, { step, keys: ["forEach", "do"] }, findings), step, reading);
  checkAlias(step, findings);
}

const DEFAULT_FOR_EACH: ForEach = {
  items: [],
  as: "item",
  errors: "collect",
  do: { tool: "tool", arguments: {} },
};

function readItems(
  items: JsonValue | undefined,
  step: DraftStep,
  { limits, findings }: StepReading,
): ForEach["items"] {
  const where = { step, keys: ["forEach", "items"] };
  if (typeof items === "string") return items;
  if (!Array.isArray(items)) {
    const message = `step ${step.id}: forEach.items is a list, or a reference to one`;
    findings.add(items === undefined ? "FIELD_MISSING" : "FOREACH_ITEMS_NOT_LIST", where, { message });
    return [];
  }
  if (items.length > limits.maxItems) {
    const message = `step ${step.id}: forEach has ${items.length} items; at most ${limits.maxItems} are allowed`;
    findings.add("LIMIT_ITEMS", where, { message });
  }
  return items;
}

function checkAlias(step: DraftStep, findings: Findings): void {
  if (step.forEach?.as !== "index" && !FORBIDDEN_KEYS.has(step.forEach?.as ?? "")) return;
  const message = `step ${step.id}: forEach.as cannot be ${step.forEach?.as}; choose another name, such as item`;
  findings.add("FOREACH_ALIAS_CONFLICT", { step, keys: ["forEach", "as"] }, { message, suggestion: "item" });
}
