import type { Document } from "mongodb";
import { comparable, compare, evaluate, type Scope, valueAt } from "./evaluate.ts";

type Test = (value: unknown, operand: unknown) => boolean;

const isEqual = (value: unknown, other: unknown): boolean => comparable(value) === comparable(other);
const isPresent = (value: unknown): boolean => value !== null && value !== undefined;

/** The filter operators that this store uses. As in MongoDB, a missing value is in no range. */
const TESTS: Readonly<Record<string, Test>> = {
  $all: (value, operand) =>
    Array.isArray(operand) && operand.every((wanted) => Array.isArray(value) && isAmong(wanted, value)),
  $elemMatch: (value, operand) => containsMatch(value, operand),
  $eq: (value, operand) =>
    isEqual(value, operand) || (Array.isArray(value) && value.some((one) => isEqual(one, operand))),
  $gt: (value, operand) => isPresent(value) && compare(value, operand) > 0,
  $gte: (value, operand) => isPresent(value) && compare(value, operand) >= 0,
  $in: (value, operand) => isAmong(value, operand),
  $lt: (value, operand) => isPresent(value) && compare(value, operand) < 0,
  $lte: (value, operand) => isPresent(value) && compare(value, operand) <= 0,
  $ne: (value, operand) => comparable(value) !== comparable(operand),
  $nin: (value, operand) => !isAmong(value, operand),
  $regex: (value, operand) => typeof value === "string" && operand instanceof RegExp && operand.test(value),
  $type: (value, operand) => (operand === "date" ? value instanceof Date : typeof value === operand),
};

/**
 * True when a document matches a filter, as in MongoDB.
 * @throws {TypeError} for an operator that is not implemented here
 */
export function matches(filter: Document, scope: Scope): boolean {
  for (const path in filter) if (!isMatch(path, filter[path], scope)) return false;
  return true;
}

function isMatch(path: string, wanted: unknown, scope: Scope): boolean {
  if (path === "$expr") return evaluate(wanted, scope) === true;
  if (path === "$or") return Array.isArray(wanted) && wanted.some((filter) => matches(filter, scope));
  if (path === "$and") return Array.isArray(wanted) && wanted.every((filter) => matches(filter, scope));
  if (path.startsWith("$")) throw new TypeError(`The store in memory does not implement ${path}`);
  const value = valueAt(scope.document, path);
  if (!isOperators(wanted)) return comparable(value) === comparable(wanted);
  return Object.entries(wanted).every(([name, operand]) => {
    const test = TESTS[name];
    if (!test) throw new TypeError(`The store in memory does not implement ${name}`);
    return test(value, operand);
  });
}

function isOperators(wanted: unknown): wanted is Record<string, unknown> {
  if (typeof wanted !== "object" || wanted === null || wanted instanceof Date) return false;
  return Object.keys(wanted).some((name) => name.startsWith("$"));
}

function isAmong(value: unknown, list: unknown): boolean {
  if (!Array.isArray(list)) return false;
  const wanted = comparable(value);
  return list.some((one) => comparable(one) === wanted);
}

/** True when an object in a list matches a filter without expressions. */
function containsMatch(list: unknown, filter: unknown): boolean {
  if (!Array.isArray(list) || typeof filter !== "object" || filter === null) return false;
  return list.some(
    (one) => typeof one === "object" && one !== null && matches(filter, { document: one, nowMs: Number.NaN }),
  );
}
