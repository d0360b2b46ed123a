import {
  findTool,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Limits,
  type Policy,
  type ToolDescriptor,
} from "@planwright/plan";
import {
  addNote,
  CALL_LISTS,
  cut,
  type DiagnosticCollector,
  isArgumentsField,
  isNestedCallField,
  jsonEquals,
  plainName,
  saysNothing,
  setOwn,
} from "@planwright/plan/internal";
import { innerJson } from "../answer-text/inner-json.ts";
import type { PlanCandidate } from "../answer-text/plan-candidates.ts";
import { readQuestion } from "../answer-text/questions-in.ts";

/** Fields of a step that the host decides: attempts, timeout, and the effect of a failure. */
const HOST_FIELDS = new Set(["retry", "timeoutms", "onerror"]);
/** Fields that a model may write for the reader of its answer; they were already read. */
const SAID = new Set(["missing", "questions", "impossible"]);

const CONTENTS = new Set(["function", "foreach"]);

/** Context of {@link tidyPlan}. */
export interface Tidying {
  readonly tools: readonly ToolDescriptor[];
  /** Decided by the host, not by the model. */
  readonly policy: Policy;
  readonly limits: Limits;
  readonly diagnostics: DiagnosticCollector;
}

/** A document in any dialect, prepared for the reader. */
export interface TidyPlan {
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
