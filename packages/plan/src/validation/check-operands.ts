import { comparisonsIn } from "../condition/comparisons.ts";
import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { conditionsOf } from "../document/step.ts";
import { isExactNumber, stringifyExactJson } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import { scanText } from "../reference/scan-text.ts";
import { type KnownOutputs, typesAt, weightOf } from "./known-outputs.ts";

const ORDERS: ReadonlySet<string> = new Set(["lt", "lte", "gt", "gte"]);
const NUMBERS: ReadonlySet<string> = new Set(["number", "integer"]);

interface Operand {
  shown: string;
  /** Possible JSON types; undefined when unknown. */
  types: ReadonlySet<string> | undefined;
  /** Number of earlier outputs from which the types are known, without a schema. */
  outputs?: number | undefined;
}

/**
 * Checks that the known types of operands fit the operators of a condition: comparing a number with a text
 * would make the step fail when it starts.
 */
export function checkOperands(
  step: DraftStep,
  outputs: KnownOutputs,
  diagnostics: DiagnosticCollector,
): void {
  for (const { operator, operands, keys: at } of comparisonsIn(conditionsOf(step))) {
    const [left, right] = operands.map((each, index) => operandOf(each, [...at, index], step, outputs));
    const problem = left && right && problemOf(operator, left, right);
    if (!problem) continue;
    const message = `step ${step.id}: "${operator}" ${problem}`;
    const weight = weightOf(left.outputs ?? right.outputs);
    diagnostics.add("CONDITION_INVALID", { step, keys: at }, { message, ...weight });
  }
}

function problemOf(operator: string, left: Operand, right: Operand): string | undefined {
  const said = `${describe(left)}, and ${describe(right)}`;
  if (ORDERS.has(operator)) {
    const isPossible = bothMayBe(left, right, isNumber) || bothMayBe(left, right, isText);
    return isPossible ? undefined : `compares two numbers or two texts: ${said}`;
  }
  if (operator === "in" && right.types && !right.types.has("array"))
    return `asks whether the list on the right holds the value on the left: ${said}; "contains" has the list on the left`;
  return undefined;
}

const isNumber = (type: string) => NUMBERS.has(type);
const isText = (type: string) => type === "string";

const bothMayBe = (left: Operand, right: Operand, isWanted: (type: string) => boolean) =>
  [left, right].every(({ types }) => !types || [...types].some(isWanted));

const describe = ({ shown, types }: Operand) =>
  `${shown} is ${types ? [...types].join(" or ") : "of any type"}`;

function operandOf(
  value: JsonValue,
  keys: readonly (string | number)[],
  step: DraftStep,
  outputs: KnownOutputs,
): Operand {
  const shown = cut(stringifyExactJson(value), 60);
  if (typeof value !== "string" || isExactNumber(value)) return { shown, types: new Set([typeOf(value)]) };
  const parts = scanText(value)?.parts ?? [];
  if (!parts.some(({ type }) => type === "reference")) return { shown, types: new Set(["string"]) };
  if (parts.length > 1) return { shown, types: new Set(["string"]) };
  const place = keys.join("\n");
  const reference = step.references.find((each) => each.keys.join("\n") === place);
  if (!reference) return { shown, types: undefined };
  if (reference.path.some(({ type }) => type === "all")) return { shown, types: new Set(["array"]) };
  const found = outputs.at(reference, step);
  return { shown, types: typesAt(found), outputs: found.outputs };
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return isExactNumber(value) ? "number" : typeof value;
}
