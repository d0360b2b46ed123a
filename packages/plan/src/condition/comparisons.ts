import type { PlacedCondition } from "../document/step.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";

/** A comparison inside a condition: its operands, and the path from the step to them. */
export interface Comparison {
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
