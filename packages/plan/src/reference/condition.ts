import { CodedError, cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import type { Condition, DraftStep, PlacedCondition } from "../document/plan.ts";
import {
  compareNumbers,
  exactNumberOf,
  isExactNumber,
  isJsonNumber,
  jsonEquals,
  stringifyExactJson,
} from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue, type Lookup, lookUp } from "../json/json.ts";
import { StepStatusSchema } from "../lifecycle/step-lifecycle.ts";
import { scanText } from "./read-reference.ts";
import {
  MissingFieldError,
  type ResolveOptions,
  resolveReferences,
  UnresolvedReferenceError,
} from "./resolve-references.ts";

/** The data for evaluating a condition. */
interface ConditionOptions extends ResolveOptions {
  /** Status of each step by step id; a step without an entry has none. */
  statuses?: Lookup<string> | undefined;
}

const MAX_DEPTH = 1_000;

/**
 * Evaluates a condition; nothing is executed as code. `eq` and `ne` compare JSON by value; `lt lte gt gte`
 * compare two numbers or two texts (by UTF-16 code units); `in` checks whether a list contains a value;
 * `contains` checks a list, a text, or an object's own keys; `exists` is true for every existing value,
 * including null; `empty` for null, "", [], {} and missing values; `status` for a step with that status. An
 * empty `all` is true, an empty `any` is false; both stop at the first decisive condition.
 * @throws {ConditionInvalidError} for operands of the wrong type
 * @throws {ReferenceError} for an operand without a value that the policy does not allow, except in `exists`
 *   and `empty`
 */
export function evaluateCondition(condition: Condition, options: ConditionOptions): boolean {
  return evaluate(condition, options, 0);
}

function evaluate(condition: unknown, options: ConditionOptions, depth: number): boolean {
  if (!isJsonObject(condition)) {
    throw new ConditionInvalidError({ operator: typeof condition, reason: "a condition is an object" });
  }
  const [operator = "", ...others] = Object.keys(condition);
  if (others.length > 0 || operator === "") {
    throw new ConditionInvalidError({ operator, reason: "a condition has exactly one operator" });
  }
  if (depth > MAX_DEPTH) {
    throw new ConditionInvalidError({ operator, reason: `it is nested more than ${MAX_DEPTH} deep` });
  }
  const operand = condition[operator] ?? null;
  switch (operator) {
    case "all":
      return listOf(operand, operator).every((inner) => evaluate(inner, options, depth + 1));
    case "any":
      return listOf(operand, operator).some((inner) => evaluate(inner, options, depth + 1));
    case "not":
      return !evaluate(operand, options, depth + 1);
    case "exists":
      return valueIfAny(operand, options) !== undefined;
    case "empty":
      return isEmpty(valueIfAny(operand, options));
    case "status":
      return hasStatus(operand, options);
    default:
      return compare(operator, operand, options);
  }
}

function listOf(value: JsonValue, operator: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new ConditionInvalidError({ operator, reason: "it takes a list of conditions" });
}

/** The operand's value; undefined when a reference in it has no value, regardless of the policy. */
function valueIfAny(operand: JsonValue, options: ConditionOptions): JsonValue | undefined {
  try {
    const policy = { onMissingField: "error", onUnresolvedStep: "error" } as const;
    return resolveReferences(operand, { ...options, policy }).value;
  } catch (error) {
    if (error instanceof MissingFieldError || error instanceof UnresolvedReferenceError) return undefined;
    throw error;
  }
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function hasStatus(operand: JsonValue, { statuses }: ConditionOptions): boolean {
  const [stepId, status] = listOf(operand, "status");
  if (typeof stepId !== "string" || typeof status !== "string") {
    throw new ConditionInvalidError({ operator: "status", reason: "it takes a step id and a status" });
  }
  return statuses !== undefined && lookUp(statuses, stepId) === status;
}

function compare(operator: string, operand: JsonValue, options: ConditionOptions): boolean {
  const comparison = COMPARISONS.get(operator);
  if (!comparison) throw new ConditionInvalidError({ operator, reason: "there is no such operator" });
  const wantsText = textChooser(operand);
  const resolved = resolveReferences(operand, { ...options, wantsText }).value;
  if (!Array.isArray(resolved) || resolved.length !== 2) {
    throw new ConditionInvalidError({ operator, reason: "it takes two operands" });
  }
  const [left = null, right = null] = resolved;
  const result = comparison(left, right);
  if (result !== undefined) return result;
  const reason = `it does not take ${kindOf(left)} and ${kindOf(right)}`;
  throw new ConditionInvalidError({ operator, reason });
}

/**
 * When the other operand is text, a number, boolean or null that a tool wrote as text is compared as that
 * text: `["<<count>>", "5"]` means the same as `["<<count>>", 5]`.
 */
function textChooser(operand: JsonValue): ResolveOptions["wantsText"] {
  if (!Array.isArray(operand)) return undefined;
  const isText = (value: JsonValue | undefined) => isTextValue(value) && !scanText(value)?.parts.length;
  return ([position], value) => {
    const isScalar = typeof value !== "object" || value === null;
    return isScalar && !isTextValue(value) && isText(operand[position === 0 ? 1 : 0]);
  };
}

/** Undefined for operands that the operator does not accept. */
type Comparison = (left: JsonValue, right: JsonValue) => boolean | undefined;

const ordered =
  (holds: (order: number) => boolean): Comparison =>
  (left, right) => {
    if (isJsonNumber(left) && isJsonNumber(right)) return holds(compareNumbers(left, right));
    return bothTexts(left, right, (one, other) => holds(one < other ? -1 : one > other ? 1 : 0));
  };

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ["eq", (left, right) => jsonEquals(left, right)],
  ["ne", (left, right) => !jsonEquals(left, right)],
  ["lt", ordered((order) => order < 0)],
  ["lte", ordered((order) => order <= 0)],
  ["gt", ordered((order) => order > 0)],
  ["gte", ordered((order) => order >= 0)],
  ["in", (left, right) => (Array.isArray(right) ? right.some((item) => jsonEquals(item, left)) : undefined)],
  ["contains", contains],
  ["startsWith", (left, right) => bothTexts(left, right, (text, start) => text.startsWith(start))],
]);

function contains(left: JsonValue, right: JsonValue): boolean | undefined {
  if (Array.isArray(left)) return left.some((item) => jsonEquals(item, right));
  if (isJsonObject(left)) return isTextValue(right) ? Object.hasOwn(left, right) : undefined;
  return bothTexts(left, right, (text, part) => text.includes(part));
}

function bothTexts(left: JsonValue, right: JsonValue, holds: (left: string, right: string) => boolean) {
  return isTextValue(left) && isTextValue(right) ? holds(left, right) : undefined;
}

/** True for a text; an exact number is none. */
function isTextValue(value: JsonValue | undefined): value is string {
  return typeof value === "string" && !isExactNumber(value);
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isJsonNumber(value)) return "a number";
  return typeof value === "object" ? "an object" : `a ${typeof value === "string" ? "text" : typeof value}`;
}

/**
 * A condition that cannot be evaluated: it is not a condition, or its operator does not accept the operands.
 */
class ConditionInvalidError extends CodedError<{ operator: string; reason: string }> {
  readonly code = "CONDITION_INVALID";
  readonly retryable = false;
  constructor(facts: { operator: string; reason: string }) {
    super(`Condition "${facts.operator}" cannot be answered: ${facts.reason}`, facts);
  }
}

const COMPARISON_NAMES = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "startsWith"];
const OPERATORS = ["all", "any", "not", ...COMPARISON_NAMES, "exists", "empty", "status"];
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
    else if (COMPARISON_NAMES.includes(operator)) {
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
interface FoundComparison {
  operator: string;
  operands: readonly JsonValue[];
  keys: readonly (string | number)[];
}

/** The comparisons inside conditions, in order. Iterative, so depth does not matter. */
export function comparisonsIn(conditions: readonly PlacedCondition[]): FoundComparison[] {
  const found: FoundComparison[] = [];
  const pending = conditions
    .map(({ condition, keys }): { value: JsonValue; keys: FoundComparison["keys"] } => ({
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
