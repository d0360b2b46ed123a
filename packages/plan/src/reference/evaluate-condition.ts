import { CodedError } from "../diagnostics/diagnostic.ts";
import type { Condition } from "../document/step.ts";
import { jsonEquals } from "../json/canonical-json.ts";
import { compareNumbers, isExactNumber, isJsonNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonValue, type Lookup, lookUp } from "../json/json.ts";
import { scanText } from "./read-reference.ts";
import {
  MissingFieldError,
  type ResolveOptions,
  resolveReferences,
  UnresolvedReferenceError,
} from "./resolve-references.ts";

/** The data for evaluating a condition. */
export interface ConditionOptions extends ResolveOptions {
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
export class ConditionInvalidError extends CodedError<{ operator: string; reason: string }> {
  readonly code = "CONDITION_INVALID";
  readonly retryable = false;
  constructor(facts: { operator: string; reason: string }) {
    super(`Condition "${facts.operator}" cannot be answered: ${facts.reason}`, facts);
  }
}
