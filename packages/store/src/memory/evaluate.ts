import { BSON, type Document } from "mongodb";

/** The inputs of an expression. */
export interface Scope {
  document: Document;
  /** `$$NOW`, Unix milliseconds. */
  nowMs: number;
}

type Operator = (operands: unknown[], scope: Scope) => unknown;

/**
 * The operators of update pipelines that this store uses. Another one is refused until it is implemented
 * here.
 */
const OPERATORS: Readonly<Record<string, Operator>> = {
  $add: (operands) => add(operands),
  $and: (operands) => operands.every(Boolean),
  $bsonSize: ([object]) => BSON.calculateObjectSize(object as Document),
  $concatArrays: (operands) => operands.flatMap((list) => (Array.isArray(list) ? list : [])),
  $cond: ([condition, then, otherwise]) => (condition === true ? then : otherwise),
  $eq: ([a, b]) => comparable(a) === comparable(b),
  $gt: ([a, b]) => compare(a, b) > 0,
  $gte: ([a, b]) => compare(a, b) >= 0,
  $ifNull: (operands) => operands.find((operand) => operand !== null && operand !== undefined) ?? null,
  $in: ([value, list]) => Array.isArray(list) && list.map(comparable).includes(comparable(value)),
  $lt: ([a, b]) => compare(a, b) < 0,
  $lte: ([a, b]) => compare(a, b) <= 0,
  $mergeObjects: (operands) => Object.assign({}, ...operands),
  $max: (operands) => extreme(operands, 1),
  $min: (operands) => extreme(operands, -1),
  $ne: ([a, b]) => comparable(a) !== comparable(b),
  $not: ([value]) => value !== true,
  $or: (operands) => operands.some(Boolean),
  $size: ([list]) => (Array.isArray(list) ? list.length : 0),
};

/**
 * The value of an aggregation expression, as MongoDB computes it: `$field.path`, `$$NOW`, `{$operator:
 * operands}`, `{$literal: value}`, lists and objects of these. A missing field is null.
 * @throws {TypeError} for an operator that is not implemented here
 */
export function evaluate(expression: unknown, scope: Scope): unknown {
  if (typeof expression === "string") {
    if (expression === "$$NOW") return new Date(scope.nowMs);
    return expression.startsWith("$") ? valueAt(scope.document, expression.slice(1)) : expression;
  }
  if (typeof expression !== "object" || expression === null || expression instanceof Date) return expression;
  if (Array.isArray(expression)) return expression.map((part) => evaluate(part, scope));
  const entries = Object.entries(expression);
  const [first] = entries;
  if (first?.[0].startsWith("$")) return evaluateOperator(first[0], first[1], scope);
  return Object.fromEntries(entries.map(([name, part]) => [name, evaluate(part, scope)]));
}

/**
 * The value at a dotted path; null when there is none. A list on the path gives the values of all its
 * elements.
 */
export function valueAt(document: Document, path: string): unknown {
  let value: unknown = document;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return null;
    value = Array.isArray(value) ? value.map((one) => valueAt(one, name)) : Reflect.get(value, name);
  }
  return value ?? null;
}

/** Negative, positive or 0, like `a - b`. As in MongoDB, null comes before every other value. */
export function compare(a: unknown, b: unknown): number {
  const [left, right] = [comparable(a), comparable(b)];
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : 1;
  throw new TypeError(`The store in memory cannot compare ${typeof left} and ${typeof right}`);
}

/** A date as its time, a missing value as null, any other value as it is. */
export function comparable(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : (value ?? null);
}

function evaluateOperator(name: string, operand: unknown, scope: Scope): unknown {
  if (name === "$literal") return operand;
  if (name === "$filter") return filtered(operand, scope);
  const operator = OPERATORS[name];
  if (!operator) throw new TypeError(`The store in memory does not implement ${name}`);
  const operands = Array.isArray(operand) ? operand : [operand];
  return operator(
    operands.map((one) => evaluate(one, scope)),
    scope,
  );
}

/** The elements of a list that fulfil a condition; each element is `$$this`. */
function filtered(operand: unknown, scope: Scope): unknown[] {
  const { input, cond } = operand as { input: unknown; cond: unknown };
  const list = evaluate(input, scope);
  if (!Array.isArray(list)) return [];
  const fits = (element: unknown): boolean =>
    evaluate(cond, { ...scope, document: { ...scope.document, $this: element } }) === true;
  return list.filter(fits);
}

/** Adds numbers, or a date and numbers of milliseconds. */
function add(operands: readonly unknown[]): number | Date {
  const sum = operands.reduce<number>((total, operand) => total + Number(operand), 0);
  return operands.some((operand) => operand instanceof Date) ? new Date(sum) : sum;
}

/** As in MongoDB, null is ignored. */
function extreme(operands: readonly unknown[], sign: number): unknown {
  const known = operands.filter((operand) => operand !== null && operand !== undefined);
  return known.reduce((best, next) => (sign * compare(next, best) > 0 ? next : best), known[0]) ?? null;
}
