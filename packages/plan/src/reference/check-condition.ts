import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic.ts";
import type { Condition, DraftStep, PlacedCondition } from "../document/step.ts";
import { exactNumberOf, stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { StepStatusSchema } from "../lifecycle/step-lifecycle.ts";

const COMPARISONS = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "startsWith"];
const OPERATORS = ["all", "any", "not", ...COMPARISONS, "exists", "empty", "status"];
const MAX_CONDITIONS = 100;
const EXAMPLE = '{"lt": ["<<a.balance>>", 10]}';

/**
 * True for a valid condition; adds a diagnostic for each error. Iterative, so depth does not matter.
 * @param where - the step, and the path in it to the condition
 */
export function checkCondition(
  value: JsonValue,
  { step, keys: place }: { step: DraftStep; keys: readonly string[] },
  diagnostics: DiagnosticCollector,
): value is Condition {
  let isValid = true;
  const refuse = (keys: readonly (string | number)[], message: string, suggestion?: string) => {
    isValid = false;
    diagnostics.add(
      "CONDITION_INVALID",
      { step, keys },
      { message: `step ${step.id}: ${message}`, suggestion },
    );
  };
  const pending: { value: JsonValue; keys: readonly (string | number)[] }[] = [{ value, keys: place }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: condition, keys } = next;
    if (!isJsonObject(condition)) {
      const meant = typeof condition === "string" ? comparisonMeant(condition) : undefined;
      refuse(keys, `a condition is an object, no text or expression; write ${meant ?? EXAMPLE}`, meant);
      continue;
    }
    const operators = Object.keys(condition);
    const [operator = ""] = operators;
    if (operators.length !== 1) {
      const meant = conditionMeant(condition, OPERATORS);
      const how = meant ? `write ${meant}` : `such as ${EXAMPLE}; join several with "all"`;
      refuse(keys, `a condition has exactly one operator, not ${operators.length} fields; ${how}`, meant);
      continue;
    }
    const operand = condition[operator] ?? null;
    const at = [...keys, operator];
    if (operator === "all" || operator === "any") {
      if (!Array.isArray(operand))
        refuse(at, `"${operator}" takes a list of conditions: {"${operator}": [..]}`);
      else if (operand.length > MAX_CONDITIONS)
        refuse(at, `"${operator}" takes at most ${MAX_CONDITIONS} conditions`);
      else pending.push(...operand.map((value, index) => ({ value, keys: [...at, index] })).reverse());
    } else if (operator === "not") pending.push({ value: operand, keys: at });
    else if (operator === "status") checkStatus(operand, at);
    else if (COMPARISONS.includes(operator)) {
      if (!Array.isArray(operand) || operand.length !== 2)
        refuse(at, `"${operator}" takes two operands in a list: {"${operator}": ["<<a.field>>", value]}`);
    } else if (operator !== "exists" && operator !== "empty") {
      const suggestion = operatorMeant(operator) ?? diagnostics.nearest(operator, OPERATORS);
      const known = `; operators are ${OPERATORS.join(" ")}, and a condition is such as ${EXAMPLE}`;
      refuse(at, `there is no operator "${cut(operator)}"${didYouMean(suggestion)}${known}`, suggestion);
    }
  }

  function checkStatus(operand: JsonValue, at: readonly string[] | readonly (string | number)[]): void {
    const [stepId, status] = Array.isArray(operand) ? operand : [];
    if (
      !Array.isArray(operand) ||
      operand.length !== 2 ||
      (typeof stepId !== "string" && typeof stepId !== "number") ||
      typeof status !== "string"
    ) {
      refuse(at, '"status" takes a step id and a status in a list: {"status": ["a", "FAILED"]}');
    } else if (!StepStatusSchema.safeParse(status).success) {
      isValid = false;
      const suggestion = diagnostics.nearest(status, StepStatusSchema.options);
      const message = `step ${step.id}: there is no status ${cut(status)}${didYouMean(suggestion)}`;
      diagnostics.add("CONDITION_STATUS_UNKNOWN", { step, keys: [...at, 1] }, { message, suggestion });
    }
  }

  return isValid;
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    eq: "= == === equal equals equalto is isequal isequalto",
    ne: "!= !== <> neq notequal notequals notequalto isnot doesnotequal",
    lt: "< less lessthan below under smaller smallerthan islessthan",
    lte: "<= le lessorequal lessthanorequal lessthanorequalto atmost max",
    gt: "> greater greaterthan above over larger largerthan more morethan isgreaterthan",
    gte: ">= ge greaterorequal greaterthanorequal greaterthanorequalto atleast min",
    in: "oneof isin anyof isoneof",
    contains: "include includes has hasitem containsitem",
    startsWith: "beginswith prefix startwith",
    exists: "isdefined defined isset isnotnull present",
    empty: "isempty isnull isnone isblank",
    all: "and && every",
    any: "or || some",
    not: "! none negate",
  }).flatMap(([operator, names]) => names.split(" ").map((name) => [name, operator])),
);

/** The operator for a name from other languages: `<`, `$lt`, `less_than`, `and`. */
function operatorMeant(name: string): string | undefined {
  if (name.length > 40) return undefined;
  const plain = name.toLowerCase().replace(/[$_\s-]/g, "");
  return OTHER_NAMES.get(plain);
}

const LEFT = ["left", "field", "value1", "variable", "path", "lhs", "key", "operand1"];
const OPERATOR = ["operator", "op", "comparison", "type"];
const RIGHT = ["right", "value", "value2", "rhs", "operand2", "compareTo"];

/**
 * The condition for an object with several fields, one of which names an operator; undefined for any other
 * object.
 */
function conditionMeant(parts: JsonObject, operators: readonly string[]): string | undefined {
  const of = (names: readonly string[]) => {
    const name = names.find((each) => Object.hasOwn(parts, each));
    return name === undefined ? undefined : parts[name];
  };
  const [left, named, right] = [of(LEFT), of(OPERATOR), of(RIGHT)];
  if (typeof named !== "string") return undefined;
  const operator = operators.includes(named) ? named : operatorMeant(named);
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return written({ [operator]: [left, right] });
}

/** The condition for a comparison in words or signs, such as `<<a.n>> < 10`; undefined for any other text. */
function comparisonMeant(text: string): string | undefined {
  if (text.length > 200) return undefined;
  const parts = text.trim().split(/\s+/);
  const [left, sign, right] = parts;
  const operator = parts.length === 3 && sign !== undefined ? operatorMeant(sign) : undefined;
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return written({ [operator]: [left, literal(right)] });
}

function literal(text: string): JsonValue {
  const bare = /^(['"])(.*)\1$/.exec(text)?.[2];
  if (bare !== undefined) return bare;
  if (text === "true" || text === "false") return text === "true";
  const number = exactNumberOf(text);
  return typeof number === "string" || (Number.isFinite(number) && text !== "") ? number : text;
}

const written = (condition: JsonValue) =>
  isJsonObject(condition) ? cut(stringifyExactJson(condition), 160) : "";

/** A comparison inside a condition: its operands, and the path from the step to them. */
interface Comparison {
  operator: string;
  operands: readonly JsonValue[];
  keys: readonly (string | number)[];
}

/** The comparisons inside conditions, in order. Iterative, so depth does not matter. */
export function comparisonsIn(conditions: readonly PlacedCondition[]): Comparison[] {
  const found: Comparison[] = [];
  const pending = conditions
    .map(({ condition, keys }): { value: JsonValue; keys: Comparison["keys"] } => ({
      value: condition,
      keys,
    }))
    .toReversed();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, keys } = next;
    const [operator = "", operand = null] = isJsonObject(value) ? (Object.entries(value)[0] ?? []) : [];
    const at = [...keys, operator];
    if (operator === "not") pending.push({ value: operand, keys: at });
    if (!Array.isArray(operand)) continue;
    if (operator === "all" || operator === "any")
      pending.push(...operand.map((inner, index) => ({ value: inner, keys: [...at, index] })).toReversed());
    else found.push({ operator, operands: operand, keys: at });
  }
  return found;
}
