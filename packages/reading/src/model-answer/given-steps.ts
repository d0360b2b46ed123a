import {
  argumentsOfStep,
  type Diagnostic,
  type ForEach,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import {
  CALL_LISTS,
  forEachFields,
  fromJsonText,
  isArgumentsField,
  isToolField,
  jsonEquals,
  plainName,
} from "@planwright/plan/internal";
/**
 * Existing steps on which a model's plan builds without repeating them. While the answer is read they come
 * before its steps, so that references to them are checked like all others.
 */

/**
 * The document with the given steps before its calls. A call that repeats a given step exactly is removed.
 */
export function withGiven(
  document: JsonObject | JsonValue[],
  given: readonly Step[],
): JsonObject | JsonValue[] {
  if (given.length === 0) return document;
  if (Array.isArray(document)) return together(document, given);
  const name = CALL_LISTS.find((field) => Array.isArray(document[field]));
  const calls = name === undefined ? undefined : document[name];
  return name !== undefined && Array.isArray(calls) && calls.length > 0
    ? { ...document, [name]: together(calls, given) }
    : document;
}

/**
 * The diagnostics about the steps of the answer, with their paths in the answer. A model does not have to
 * repair a given step.
 */
export function withoutGiven(diagnostics: readonly Diagnostic[], given: readonly Step[]): Diagnostic[] {
  if (given.length === 0) return [...diagnostics];
  return diagnostics.flatMap((each) => {
    const place = /^steps\[(\d+)\]/.exec(each.path ?? "");
    if (!place || each.path === undefined) return [each];
    const index = Number(place[1]) - given.length;
    return index < 0 ? [] : [{ ...each, path: `steps[${index}]${each.path.slice(place[0].length)}` }];
  });
}

function together(calls: readonly JsonValue[], given: readonly Step[]): JsonValue[] {
  const byId = new Map<string, Step>(given.map((step) => [step.id, step]));
  const own = calls.filter((call) => !isJsonObject(call) || !repeats(call, byId));
  return [...given.map((step): JsonValue => JSON.parse(JSON.stringify(step))), ...own];
}

function repeats(call: JsonObject, byId: ReadonlyMap<string, Step>): boolean {
  const id = firstOf(call, isIdField);
  const step = typeof id === "string" ? byId.get(id) : undefined;
  if (!step) return false;
  if (isForEachStep(step)) return repeatsForEach(call, step.forEach);
  if (firstOf(call, isToolField) !== toolOfStep(step)) return false;
  return jsonEquals(firstOf(call, isArgumentsField) ?? {}, argumentsOfStep(step));
}

/** True when a call repeats a forEach in any form; a missing field has the value of the given step. */
function repeatsForEach(call: JsonObject, forEach: ForEach): boolean {
  const fields = forEachFields(call["forEach"] ?? null);
  if (!fields) return false;
  const inner = isJsonObject(fields["do"]) ? fields["do"] : call;
  const own: JsonObject = JSON.parse(JSON.stringify(forEach));
  const { do: _call, ...around } = fields;
  return (
    firstOf(inner, isToolField) === forEach.do.tool &&
    jsonEquals(fromJsonText(firstOf(inner, isArgumentsField) ?? {}), forEach.do.arguments) &&
    Object.entries(around).every(([name, value]) => {
      const said = name === "when" ? fromJsonText(value) : value;
      return said === null || jsonEquals(said, own[name] ?? null);
    })
  );
}

const IDS = new Set(["id", "stepid", "callid"]);
const isIdField = (name: string) => IDS.has(plainName(name));

function firstOf(call: JsonObject, isWanted: (name: string) => boolean): JsonValue | undefined {
  const name = Object.keys(call).find((field) => isWanted(field) && call[field] !== null);
  return name === undefined ? undefined : call[name];
}
