import { checkCondition } from "../condition/check-condition.ts";
import { StepIdSchema } from "../ids.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { FORBIDDEN_KEYS } from "../own-property.ts";
import { CallStepSchema, RetryPolicySchema } from "../step.ts";
import { cut, type Findings } from "../validation/findings.ts";
import { createDraftStep, type DraftStep, MAX_DEPENDENCIES } from "./draft-step.ts";
import { fromJsonText } from "./for-each-form.ts";
import { CALL_FIELDS, readCall, type StepReading } from "./read-call.ts";
import { addIssues, at, type FieldNames, type Fields, readFields, unknownField } from "./read-fields.ts";
import { readForEach } from "./read-for-each.ts";
import { toStepId } from "./step-ids.ts";

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
/** Reads one call of any dialect. What is wrong with it becomes findings; undefined when it is no call at all. */
export function readStep(value: JsonValue, index: number, reading: StepReading): DraftStep | undefined {
  const { findings } = reading;
  if (!isJsonObject(value)) {
    const message = `Step ${index} is not an object; a step is {"id", "tool", "arguments"}`;
    findings.add("PLAN_SHAPE", { keys: ["steps", index] }, { message });
    return undefined;
  }
  const step = createDraftStep({ index, id: provisionalId(value, index) });
  const outer = readFields(value, STEP_FIELDS, { step }, findings);
  const fields = withFunction(outer, step, findings);
  readId(fields, step, findings);
  const forEach = fields.get("forEach");
  if (forEach) readForEach(forEach.value, fields, step, reading);
  else readCall(fields, step, reading);
  step.dependsOn = readDependencies(fields, step, findings);
  const when = fromJsonText(fields.get("when")?.value ?? null);
  if (when !== null && checkCondition(when, step, findings)) step.when = when;
  readOptions(fields, step, findings);
  return step;
}

/** A name for findings, until the id is known. */
function provisionalId({ id, tool, name }: JsonObject, index: number): string {
  const known = [id, tool, name].find((text) => typeof text === "string" && text.length <= 64);
  return typeof known === "string" ? known : `step${index + 1}`;
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
  findings.add("STEP_ID_INVALID", { step, keys: ["id"] }, { message, suggestion });
  step.id = typeof id === "string" ? cut(id, 64) : suggestion;
}

function readDependencies(fields: Fields, step: DraftStep, findings: Findings): string[] {
  const names = ["dependsOn", "after"].flatMap((field) => {
    const value = fields.get(field)?.value;
    if (value === undefined) return [];
    const list = (Array.isArray(value) ? value : [value]).map(numberAsText);
    if (list.length <= MAX_DEPENDENCIES && list.every((name) => typeof name === "string")) {
      return list.filter((name) => name !== "");
    }
    const message = `step ${step.id}: ${field} is a list of at most ${MAX_DEPENDENCIES} step ids`;
    findings.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
    return [];
  });
  return [...new Set(names)];
}

/** Ids may be written as numbers. */
function numberAsText(value: JsonValue): JsonValue {
  return typeof value === "number" ? String(value) : value;
}

const OptionsSchema = CallStepSchema.pick({ retry: true, timeoutMs: true, onError: true, approval: true });
const RETRY_FIELDS = Object.keys(RetryPolicySchema.shape);
const OPTION_NAMES = ["retry", "timeoutMs", "onError", "approval"] as const;

function readOptions(fields: Fields, step: DraftStep, findings: Findings): void {
  const given = OPTION_NAMES.flatMap((name) => {
    const field = fields.get(name);
    return field ? [[name, field.value] as const] : [];
  });
  if (given.length === 0) return;
  const parsed = OptionsSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) step.options = parsed.data;
  else addIssues(parsed.error, { step }, RETRY_FIELDS, findings);
}
