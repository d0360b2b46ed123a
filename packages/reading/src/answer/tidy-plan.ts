import {
  argumentsOfStep,
  type Diagnostic,
  type ForEach,
  findTool,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Limits,
  type Policy,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import {
  addNote,
  CALL_LISTS,
  cut,
  type DiagnosticCollector,
  forEachFields,
  fromJsonText,
  isArgumentsField,
  isNestedCallField,
  isToolField,
  jsonEquals,
  plainName,
  saysNothing,
  setOwn,
} from "@planwright/plan/internal";
import type { PlanCandidate } from "./choose-plan.ts";
import { innerJson } from "./find-json.ts";
import { readQuestion } from "./prose.ts";

/** Fields of a step that the host decides: attempts, timeout, and the effect of a failure. */
const HOST_FIELDS = new Set(["retry", "timeoutms", "onerror"]);
/** Fields that a model may write for the reader of its answer; they were already read. */
const SAID = new Set(["missing", "questions", "impossible"]);

const CONTENTS = new Set(["function", "foreach"]);

/** Context of {@link tidyPlan}. */
interface Tidying {
  readonly tools: readonly ToolDescriptor[];
  /** Decided by the host, not by the model. */
  readonly policy: Policy;
  readonly limits: Limits;
  readonly diagnostics: DiagnosticCollector;
}

/** A document in any dialect, prepared for the reader. */
interface TidyPlan {
  readonly document: JsonObject | JsonValue[];
  readonly isRepaired: boolean;
}

/**
 * Removes fields that a model cannot decide (policy, limits, retries, timeouts) and fields with reasons and
 * questions, each with a warning; parses arguments that are damaged JSON texts. Everything else stays, and
 * the reader judges it.
 */
export function tidyPlan({ document, ignored, isRepaired }: PlanCandidate, tidying: Tidying): TidyPlan {
  const repairs = { isRepaired };
  const { diagnostics } = tidying;
  for (const name of ignored) ignore(name, [], "stands beside the plan", diagnostics);
  if (Array.isArray(document)) return { document: tidyCalls(document, repairs, tidying), ...repairs };
  const tidy: JsonObject = {};
  for (const name of Object.keys(document)) {
    const value = document[name] ?? null;
    if (CALL_LISTS.some((list) => list === name) && Array.isArray(value))
      tidy[name] = tidyCalls(value, repairs, tidying);
    else if (SAID.has(name) && isSaid(value)) mention(name, value, diagnostics);
    else if (isHostField(name)) {
      if (value !== null && !isSame(value, tidying[name]))
        ignore(name, [], "is not for a model to choose", diagnostics);
    } else if (name === "literals") {
      // Only the request decides which texts are literal; otherwise a model could make a reference be sent as
      // text.
      if (value !== null) ignore(name, [], "is not for a model to choose", diagnostics);
    } else setOwn(tidy, name, value);
  }
  return { document: tidy, ...repairs };
}

function isHostField(name: string): name is "policy" | "limits" {
  return name === "policy" || name === "limits";
}

function isSaid(value: JsonValue): boolean {
  return (Array.isArray(value) ? value : [value]).every((each) => readQuestion(each) !== undefined);
}

function isSame(value: JsonValue, own: Policy | Limits): boolean {
  const options: JsonValue = JSON.parse(JSON.stringify(own));
  return jsonEquals(value, options);
}

function tidyCalls(
  calls: readonly JsonValue[],
  repairs: { isRepaired: boolean },
  { tools, diagnostics }: Tidying,
): JsonValue[] {
  return calls.map((call, index) => {
    if (!isJsonObject(call)) return call;
    const tidy: JsonObject = {};
    for (const name of Object.keys(call)) {
      const value = call[name] ?? null;
      if (HOST_FIELDS.has(plainName(name)) && !mayBeArgument(name, call, tools)) {
        if (value !== null) ignore(name, ["steps", index], "is not for a model to choose", diagnostics);
      } else setOwn(tidy, name, value);
    }
    readArgumentTexts(tidy, repairs);
    return tidy;
  });
}

/**
 * True for a field that may be an argument, because some models write arguments next to the tool's name: it
 * is never removed.
 */
function mayBeArgument(name: string, call: JsonObject, tools: readonly ToolDescriptor[]): boolean {
  if (!Object.keys(call).some((field) => isArgumentsField(field) || CONTENTS.has(plainName(field))))
    return true;
  const tool = call["tool"] ?? call["name"];
  const schema = typeof tool === "string" ? findTool(tools, tool)?.inputSchema : undefined;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

function mention(name: string, value: JsonValue, diagnostics: DiagnosticCollector): void {
  if (!saysNothing(name, value)) addNote({ name, value }, { keys: [name] }, diagnostics);
}

function ignore(
  name: string,
  keys: readonly (string | number)[],
  why: string,
  diagnostics: DiagnosticCollector,
): void {
  const message = `field ${cut(name)} ${why}; left out`;
  diagnostics.add("FIELD_IGNORED", { keys: [...keys, cut(name)] }, { message, severity: "warning" });
}

/**
 * Parses JSON texts of arguments in the call, in its wrapper, and in a forEach. The object is a copy, but its
 * values are not.
 */
function readArgumentTexts(call: JsonObject, repairs: { isRepaired: boolean }): void {
  for (const name of Object.keys(call)) {
    const value = call[name] ?? null;
    if (typeof value === "string" && isArgumentsField(name)) {
      const inner = readArguments(value);
      if (!inner) continue;
      call[name] = inner.value;
      repairs.isRepaired ||= inner.isRepaired;
    } else if (isJsonObject(value) && (isNestedCallField(name) || INNER.has(plainName(name)))) {
      const copy = { ...value };
      readArgumentTexts(copy, repairs);
      call[name] = copy;
    }
  }
}

/** Fields of a forEach. */
const INNER = new Set(["foreach", "do"]);

/**
 * Parses JSON text of an object, also nested in another JSON text; "null" means no arguments. Undefined for
 * any other text.
 */
function readArguments(text: string): { value: JsonValue; isRepaired: boolean } | undefined {
  if (["null", "None", "{}"].includes(text.trim())) return { value: {}, isRepaired: false };
  const inner = innerJson(text);
  return inner && isJsonObject(inner.value) ? inner : undefined;
}

/**
 * Existing steps on which a model's plan builds without repeating them. While the answer is read they come
 * before its steps, so that references to them are checked like all others.
 */

/** A document that begins with the given steps. */
interface DocumentWithGiven {
  readonly document: JsonObject | JsonValue[];
  /** The position in the answer of each call that follows the given steps. */
  readonly places: readonly number[];
}

/**
 * The document with the given steps before its calls. A call that repeats a given step exactly is removed.
 */
export function withGiven(document: JsonObject | JsonValue[], given: readonly Step[]): DocumentWithGiven {
  const name = Array.isArray(document) ? "" : CALL_LISTS.find((field) => Array.isArray(document[field]));
  const calls = Array.isArray(document) ? document : document[name ?? ""];
  if (given.length === 0 || name === undefined || !Array.isArray(calls) || calls.length === 0)
    return { document, places: [] };
  const byId = new Map<string, Step>(given.map((step) => [step.id, step]));
  const places = calls.flatMap((call, index) => (isJsonObject(call) && repeats(call, byId) ? [] : [index]));
  const together = [
    ...given.map((step): JsonValue => JSON.parse(JSON.stringify(step))),
    ...places.map((index) => calls[index] ?? null),
  ];
  return { document: Array.isArray(document) ? together : { ...document, [name]: together }, places };
}

/**
 * The diagnostics about the steps of the answer, with their paths in the answer. A model does not have to
 * repair a given step.
 */
export function withoutGiven(
  diagnostics: readonly Diagnostic[],
  given: readonly Step[],
  { places }: Pick<DocumentWithGiven, "places">,
): Diagnostic[] {
  if (given.length === 0) return [...diagnostics];
  return diagnostics.flatMap((each) => {
    const place = /^steps\[(\d+)\]/.exec(each.path ?? "");
    if (!place || each.path === undefined) return [each];
    const index = places[Number(place[1]) - given.length];
    return index === undefined
      ? []
      : [{ ...each, path: `steps[${index}]${each.path.slice(place[0].length)}` }];
  });
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
