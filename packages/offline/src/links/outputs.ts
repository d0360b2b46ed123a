import { CONTENT_NAMES, type Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { PlannedStep } from "./links.ts";

/**
 * The path of the text in a step's output: its only text, or the field that contains the text; null when the
 * output is more than a text.
 */
function textField({ words }: PlannedStep): string | null {
  return CONTENT_NAMES.find((name) => words.outputs.has(name)) ?? words.onlyText;
}

/**
 * Outputs of steps as one text. A text field of a single step is used alone. A whole output becomes part of a
 * longer text, because a reference that is the complete value would keep its type.
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
 * Outputs of steps, in the form that a parameter takes; null when it can take none.
 * @param field - the field of their outputs, for "their titles"
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
