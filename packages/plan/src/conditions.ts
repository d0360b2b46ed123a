import { CodedError } from "./coded-error.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import type { Policy } from "./policy.ts";
import { type ResolveOptions, resolveReferences } from "./references/resolve.ts";
import type { Condition } from "./step.ts";

/** A condition compares what cannot be compared, or asks for something that is not there. */
export class ConditionError extends CodedError<{ condition: string }> {
  readonly code = "CONDITION_INVALID";
  readonly retryable = false;
}

/** What conditions are evaluated over. */
export interface ConditionOptions extends Omit<ResolveOptions, "policy"> {
  /** Status of each step, by id. */
  statuses: ReadonlyMap<string, string>;
  policy?: Partial<Pick<Policy, "onMissingField" | "onUnresolvedStep">> | undefined;
}

/** Deepest nesting of all, any, not. */
const MAX_DEPTH = 32;

/**
 * Evaluates a condition. No expression language, no eval. `exists` and `empty` never fail on absence; comparisons with
 * `lt lte gt gte` need two numbers or two texts.
 * @throws {ConditionError}, and the errors of references
 */
export function evaluateCondition(condition: Condition, options: ConditionOptions, depth = 0): boolean {
  if (depth > MAX_DEPTH) throw new ConditionError("The condition is nested too deeply", { condition: "..." });
  const resolve = (operand: JsonValue): JsonValue => resolveReferences(operand, options).value;
  if ("all" in condition) return condition.all.every((inner) => evaluateCondition(inner, options, depth + 1));
  if ("any" in condition) return condition.any.some((inner) => evaluateCondition(inner, options, depth + 1));
  if ("not" in condition) return !evaluateCondition(condition.not, options, depth + 1);
  if ("exists" in condition) return valueOrNull(condition.exists, options) !== null;
  if ("empty" in condition) return isEmpty(valueOrNull(condition.empty, options));
  if ("status" in condition) return options.statuses.get(condition.status[0]) === condition.status[1];
  if ("eq" in condition) return isEqual(resolve(condition.eq[0]), resolve(condition.eq[1]));
  if ("ne" in condition) return !isEqual(resolve(condition.ne[0]), resolve(condition.ne[1]));
  if ("in" in condition) return contains(resolve(condition.in[1]), resolve(condition.in[0]), condition);
  if ("contains" in condition)
    return contains(resolve(condition.contains[0]), resolve(condition.contains[1]), condition);
  if ("startsWith" in condition) {
    const [text, start] = condition.startsWith.map(resolve);
    if (typeof text !== "string" || typeof start !== "string") throw incomparable(condition);
    return text.startsWith(start);
  }
  if ("lt" in condition) return compare(condition.lt.map(resolve), condition) < 0;
  if ("lte" in condition) return compare(condition.lte.map(resolve), condition) <= 0;
  if ("gt" in condition) return compare(condition.gt.map(resolve), condition) > 0;
  return compare(condition.gte.map(resolve), condition) >= 0;
}

/** The operand's value; null when a step gave no output or has no such field. */
function valueOrNull(operand: JsonValue, options: ConditionOptions): JsonValue {
  try {
    return resolveReferences(operand, {
      ...options,
      policy: { onMissingField: "error", onUnresolvedStep: "error" },
    }).value;
  } catch (error) {
    if (error instanceof CodedError && ABSENT.has(error.code)) return null;
    throw error;
  }
}

const ABSENT = new Set(["REFERENCE_MISSING", "REFERENCE_UNRESOLVED"]);

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function isEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

function contains(holder: JsonValue, wanted: JsonValue, condition: Condition): boolean {
  if (Array.isArray(holder)) return holder.some((item) => isEqual(item, wanted));
  if (typeof holder === "string" && typeof wanted === "string") return holder.includes(wanted);
  if (isJsonObject(holder) && typeof wanted === "string") return Object.hasOwn(holder, wanted);
  throw incomparable(condition);
}

function compare([a, b]: JsonValue[], condition: Condition): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  throw incomparable(condition);
}

function incomparable(condition: Condition): ConditionError {
  const text = JSON.stringify(condition).slice(0, 200);
  return new ConditionError(`The condition ${text} compares values that cannot be compared`, {
    condition: text,
  });
}
