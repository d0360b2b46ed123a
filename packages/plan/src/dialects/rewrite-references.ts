import { isJsonObject, type JsonValue } from "../json.ts";
import type { Plan } from "../plan.ts";
import { planNames } from "../references/referenced-steps.ts";
import { printReference, splitText } from "../references/scan.ts";
import { isForEachStep, type Step } from "../step.ts";

/**
 * Rewrites every reference to the canonical `<<step.path>>`, tool names to the one step that uses them.
 * Escapes stay escapes. Names that are no step of the plan stay as they were written.
 */
export function rewriteReferences(plan: Plan): Plan {
  const names = planNames(plan);

  function rewrite<Value extends JsonValue | undefined>(value: Value, hidden: readonly string[]): Value;
  function rewrite(value: JsonValue | undefined, hidden: readonly string[]): JsonValue | undefined {
    if (typeof value === "string") return rewriteText(value, hidden);
    if (Array.isArray(value)) return value.map((item) => rewrite(item, hidden));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, hidden)]));
  }

  function rewriteText(text: string, hidden: readonly string[]): string {
    const parts = splitText(text);
    if (parts.every((part) => "literal" in part && part.literal === text)) return text;
    return parts
      .map((part) => {
        if ("literal" in part) return part.literal.replace(/<<|\{\{/g, "\\$&");
        const { root } = part.reference;
        const isOwn = hidden.includes(root) || names.ids.has(root);
        const steps = isOwn ? [] : (names.byTool.get(root) ?? []);
        const [step] = steps;
        return printReference({
          ...part.reference,
          root: steps.length === 1 && step !== undefined ? step : root,
        });
      })
      .join("");
  }

  const steps = plan.steps.map((step): Step => {
    const when =
      step.when === undefined ? {} : { when: rewrite(step.when as JsonValue, []) as typeof step.when };
    if (!isForEachStep(step)) return { ...step, ...when, arguments: rewrite(step.arguments, []) };
    const { forEach } = step;
    const inside = [forEach.as, "index"];
    return {
      ...step,
      ...when,
      forEach: {
        ...forEach,
        items: rewrite(forEach.items, []),
        ...(forEach.key === undefined ? {} : { key: rewrite(forEach.key, inside) }),
        do: { ...forEach.do, arguments: rewrite(forEach.do.arguments, inside) },
      },
    };
  });
  return { ...plan, steps };
}
