import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { jsonEquals } from "../json-equals.ts";
import type { Limits } from "../limits.ts";
import { findTool } from "../name-tools.ts";
import type { Policy } from "../policy.ts";
import type { ToolDescriptor } from "../tool-descriptor.ts";
import { cut, type Findings } from "../validation/findings.ts";
import { innerJson } from "./inner-json.ts";
import type { PlanCandidate } from "./plan-candidates.ts";

/** What models say about a plan and about a step in fields of their own. */
const COMMENTARY = new Set(
  "description comment comments explanation note notes rationale reason reasoning thought thoughts thinking purpose goal summary objective task title query request label status confidence expected_output expectedOutput missing impossible message".split(
    " ",
  ),
);
/** The number of a step, which its place says already. */
const NUMBERS = new Set(["step", "step_number", "stepNumber", "order", "index"]);
/** What the host decides of a step: how often, how long, and what a failure means. */
const HOST_FIELDS = new Set(["retry", "timeoutMs", "onError"]);
const CALLS = ["steps", "tools", "calls"];
const ARGUMENTS = ["arguments", "parameters", "args", "input", "params"];
const CONTENTS = [...ARGUMENTS, "function", "forEach"];

/** What a plan is tidied with. */
export interface Tidying {
  readonly tools: readonly ToolDescriptor[];
  /** What the host decides, and no model. */
  readonly policy: Policy;
  readonly limits: Limits;
  readonly findings: Findings;
}

/** A plan of a dialect, fit for the reader. */
export interface TidyPlan {
  readonly document: JsonObject | JsonValue[];
  readonly isRepaired: boolean;
}

/**
 * Leaves out what a model says about its plan, and what it has no say in (policy, limits, repeats, timeouts), each with a warning; reads
 * arguments that
 * are texts with defects. Everything else stays, so that the reader finds it.
 */
export function tidyPlan({ document, ignored, isRepaired }: PlanCandidate, tidying: Tidying): TidyPlan {
  const repairs = { isRepaired };
  const { findings } = tidying;
  for (const name of ignored) ignore(name, [], "stands beside the plan", findings);
  if (Array.isArray(document)) return { document: tidyCalls(document, repairs, tidying), ...repairs };
  const tidy: JsonObject = {};
  for (const name of Object.keys(document)) {
    const value = document[name] ?? null;
    if (CALLS.includes(name) && Array.isArray(value)) tidy[name] = tidyCalls(value, repairs, tidying);
    else if (isCommentary(name, value)) mention(name, value, [], findings);
    else if (name === "policy" || name === "limits") {
      if (value !== null && !isSame(value, tidying[name]))
        ignore(name, [], "is not for a model to choose", findings);
    } else tidy[name] = value;
  }
  return { document: tidy, ...repairs };
}

function isSame(value: JsonValue, own: Policy | Limits): boolean {
  const options: JsonValue = JSON.parse(JSON.stringify(own));
  return jsonEquals(value, options);
}

function tidyCalls(
  calls: readonly JsonValue[],
  repairs: { isRepaired: boolean },
  { tools, findings }: Tidying,
): JsonValue[] {
  return calls.map((call, index) => {
    if (!isJsonObject(call)) return call;
    const tidy: JsonObject = {};
    for (const name of Object.keys(call)) {
      const value = call[name] ?? null;
      const isNumber = NUMBERS.has(name) && (value === index || value === index + 1);
      if (HOST_FIELDS.has(name) && !mayBeArgument(name, call, tools)) {
        if (value !== null) ignore(name, ["steps", index], "is not for a model to choose", findings);
        continue;
      }
      if (!(isNumber || isCommentary(name, value)) || mayBeArgument(name, call, tools)) tidy[name] = value;
      else if (!isNumber) mention(name, value, ["steps", index], findings);
    }
    readArgumentTexts(tidy, repairs);
    return tidy;
  });
}

/** Some models write arguments beside the tool's name: what could be one is never left out. */
function mayBeArgument(name: string, call: JsonObject, tools: readonly ToolDescriptor[]): boolean {
  if (!CONTENTS.some((field) => Object.hasOwn(call, field))) return true;
  const tool = call["tool"] ?? call["name"];
  const schema = typeof tool === "string" ? findTool(tools, tool)?.inputSchema : undefined;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

function isCommentary(name: string, value: JsonValue): boolean {
  const isTexts =
    name === "missing" && Array.isArray(value) && value.every((each) => typeof each === "string");
  return COMMENTARY.has(name) && (typeof value !== "object" || value === null || isTexts);
}

function mention(name: string, value: JsonValue, keys: (string | number)[], findings: Findings): void {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return;
  ignore(name, keys, `says ${cut(JSON.stringify(value), 200)} and is no part of a plan`, findings);
}

function ignore(name: string, keys: readonly (string | number)[], why: string, findings: Findings): void {
  const message = `field ${cut(name)} ${why}; left out`;
  findings.add("FIELD_IGNORED", { keys: [...keys, cut(name)] }, { message, severity: "warning" });
}

/** In the call itself, in its wrapper, and in a forEach. The object is the caller's own copy, what is in it is not. */
function readArgumentTexts(call: JsonObject, repairs: { isRepaired: boolean }): void {
  for (const name of ARGUMENTS) {
    const value = Object.hasOwn(call, name) ? call[name] : undefined;
    if (typeof value !== "string") continue;
    const inner = readArguments(value);
    if (!inner) continue;
    call[name] = inner.value;
    repairs.isRepaired ||= inner.isRepaired;
  }
  for (const name of ["function", "forEach", "do"]) {
    const inner = Object.hasOwn(call, name) ? call[name] : undefined;
    if (!isJsonObject(inner)) continue;
    const copy = { ...inner };
    readArgumentTexts(copy, repairs);
    call[name] = copy;
  }
}

/** A text of an object, also of a text of one; "null" is no arguments. Anything else stays as it is. */
function readArguments(text: string): { value: JsonValue; isRepaired: boolean } | undefined {
  if (["null", "None", "{}"].includes(text.trim())) return { value: {}, isRepaired: false };
  const inner = innerJson(text);
  return inner && isJsonObject(inner.value) ? inner : undefined;
}
