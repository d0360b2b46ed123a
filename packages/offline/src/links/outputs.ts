import { CONTENT_NAMES, type Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { PlannedStep } from "./links.ts";

/**
 * The path of what a step's output says in words: its one text, or the field that holds it; null when it is
 * more than a text.
 */
function textField({ words }: PlannedStep): string | null {
  return CONTENT_NAMES.find((name) => words.outputs.has(name)) ?? words.onlyText;
}

/**
 * What steps gave, as one text. A text field of a single step stands for itself; a whole output becomes part
 * of a longer text, for a reference that is the whole of a value would keep its type.
 */
export function outputsAsText(steps: readonly PlannedStep[]): string {
  const [first, second] = steps;
  const reference = (step: PlannedStep) => {
    const field = textField(step);
    return field === null ? `<<${step.id}>>` : `<<${step.id}.${field}>>`;
  };
  if (!first || second) return steps.map(reference).join("\n");
  return textField(first) === null ? `${first.id}: ${reference(first)}` : reference(first);
}

/**
 * What steps gave, in the form that a parameter takes; null when it can take none.
 * @param field - of their outputs, for "their titles"
 */
export function outputsFor(
  parameter: Parameter,
  steps: readonly PlannedStep[],
  field: string | null,
): JsonValue | null {
  if (parameter.choices !== null || parameter.link !== null || parameter.shape !== null) return null;
  const chosen = steps.map((step) => (field === null ? `<<${step.id}>>` : `<<${step.id}.${field}>>`));
  if (parameter.type === "string") return field === null ? outputsAsText(steps) : chosen.join("\n");
  if (parameter.type !== "array" || parameter.item?.link) return null;
  return parameter.item?.type === "string" && field === null
    ? steps.map((step) => outputsAsText([step]))
    : chosen;
}
