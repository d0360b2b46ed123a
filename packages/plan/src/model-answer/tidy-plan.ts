import { innerJson } from "../answer-text/inner-json.ts";
import type { PlanCandidate } from "../answer-text/plan-candidates.ts";
import { readQuestion } from "../answer-text/questions-in.ts";
import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { CALL_LISTS, isArgumentsField, isNestedCallField } from "../dialect/call-fields.ts";
import { plainName, saysNothing } from "../dialect/field-words.ts";
import { addNote } from "../dialect/judge-fields.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { jsonEquals } from "../json/json-equals.ts";
import { setOwn } from "../json/own-property.ts";
import type { Limits } from "../policy/limits.ts";
import type { Policy } from "../policy/policy.ts";
import { findTool } from "../tools/name-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/** What the host decides of a step: how often, how long, and what a failure means. */
const HOST_FIELDS = new Set(["retry", "timeoutms", "onerror"]);
/** Fields that a model may write for the reader of its answer; they have been read by now. */
const SAID = new Set(["missing", "questions", "impossible"]);

const CONTENTS = new Set(["function", "foreach"]);

/** What a plan is tidied with. */
export interface Tidying {
  readonly tools: readonly ToolDescriptor[];
  /** The host decides these, not the model. */
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
 * Removes what a model cannot decide (policy, limits, retries, timeouts) and what it says instead of a plan,
 * each with a warning; reads arguments that are damaged JSON texts. Everything else stays, for the reader to
 * judge.
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
      // Only the request decides what is text and no reference; otherwise a model could have a reference sent
      // as text.
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
      } else tidy[name] = value;
    }
    readArgumentTexts(tidy, repairs);
    return tidy;
  });
}

/** Some models write arguments beside the tool's name: a field that may be an argument is never removed. */
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

/** In the call itself, in its wrapper, and in a forEach. The object is a copy, its values are not. */
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

/** Of a forEach. */
const INNER = new Set(["foreach", "do"]);

/** A text of an object, also of a text of one; "null" is no arguments. Anything else stays as it is. */
function readArguments(text: string): { value: JsonValue; isRepaired: boolean } | undefined {
  if (["null", "None", "{}"].includes(text.trim())) return { value: {}, isRepaired: false };
  const inner = innerJson(text);
  return inner && isJsonObject(inner.value) ? inner : undefined;
}
