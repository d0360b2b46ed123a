import { checkCondition } from "../condition/check-condition.ts";
import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { createDraftStep, type DraftStep } from "../document/draft-step.ts";
import { plainName } from "../document/field-words.ts";
import { StepIdSchema } from "../document/ids.ts";
import { CallStepSchema, RetryPolicySchema } from "../document/step.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { FORBIDDEN_KEYS } from "../json/own-property.ts";
import { fromJsonText } from "../json/parse-json.ts";
import { CALL_FIELDS, isCall, LABEL_FIELDS } from "./call-fields.ts";
import { forEachFields } from "./for-each-form.ts";
import { judgeStepFields } from "./judge-fields.ts";
import { withStepId, withTool } from "./name-call.ts";
import { readProvides } from "./provided-fields.ts";
import { readCall, type StepReading } from "./read-call.ts";
import { readDependencies } from "./read-dependencies.ts";
import {
  addIssues,
  at,
  type FieldNames,
  type Fields,
  type ReadFields,
  readFields,
  unknownField,
} from "./read-fields.ts";
import { readForEach } from "./read-for-each.ts";
import { readLabels } from "./read-labels.ts";
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
