import { checkCondition } from "../condition/check-condition.ts";
import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { type ForEach, ForEachSchema } from "../document/step.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { jsonEquals } from "../json/json-equals.ts";
import { FORBIDDEN_KEYS } from "../json/own-property.ts";
import { fromJsonText } from "../json/parse-json.ts";
import { CALL_FIELDS, isArgumentsField, isToolField, LABEL_FIELDS } from "./call-fields.ts";
import { forEachFields } from "./for-each-form.ts";
import { judgeStepFields } from "./judge-fields.ts";
import { withTool } from "./name-call.ts";
import { readCall, type StepReading } from "./read-call.ts";
import { addIssues, type Fields, readFields } from "./read-fields.ts";

const FOR_EACH_NAMES = Object.keys(ForEachSchema.shape);

/**
 * Reads a forEach and its call into a step. The call is in `do`, or next to the forEach in the step.
 * @param outer - the fields of the step
 */
export function readForEach(value: JsonValue, outer: Fields, step: DraftStep, reading: StepReading): void {
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
