import { isJsonObject, type JsonValue } from "../json.ts";
import { FORBIDDEN_KEYS } from "../own-property.ts";
import { type ForEach, ForEachSchema } from "../step.ts";
import type { Findings } from "../validation/findings.ts";
import type { DraftStep } from "./draft-step.ts";
import { CALL_FIELDS, readCall, type StepReading } from "./read-call.ts";
import { addIssues, type Fields, readFields } from "./read-fields.ts";

const FOR_EACH_NAMES = Object.keys(ForEachSchema.shape);

/** Reads a forEach and the call in it into a step. @param outer - the fields of the step, which must name no call of their own */
export function readForEach(value: JsonValue, outer: Fields, step: DraftStep, reading: StepReading): void {
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
  if (!parsed.success) addIssues(parsed.error, { step, keys: ["forEach"] }, FOR_EACH_NAMES, findings);
  const base: ForEach = parsed.success ? parsed.data : { ...DEFAULT_FOR_EACH };
  step.forEach = { ...base, items: readItems(items, step, reading) };
  if (!isJsonObject(call)) {
    const message = `step ${step.id}: forEach.do is {"tool", "arguments"}`;
    findings.add("FIELD_MISSING", { step, keys: ["forEach", "do"] }, { message });
    return;
  }
  readCall(readFields(call, CALL_FIELDS, { step, keys: ["forEach", "do"] }, findings), step, reading);
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
