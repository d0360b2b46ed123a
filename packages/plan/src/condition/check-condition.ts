import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import type { Condition } from "../document/step.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { StepStatusSchema } from "../lifecycle/step-lifecycle.ts";
import { comparisonMeant, conditionMeant, operatorMeant } from "./condition-hints.ts";

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
