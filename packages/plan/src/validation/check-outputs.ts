import { didYouMean } from "../diagnostics/diagnostic-collector.ts";
import type { DraftReference, DraftStep } from "../document/draft-step.ts";
import { absenceOf, createKnownOutputs } from "./known-outputs.ts";
import type { ToolChecking } from "./tool-checking.ts";

/**
 * Checks that fields to which parts of the outputs refer can exist, by the output schemas of their sources. A
 * field that was only never observed is a warning.
 */
export function checkOutputs(
  references: readonly DraftReference[],
  steps: readonly DraftStep[],
  { catalogue, policy, diagnostics }: ToolChecking,
): void {
  const outputs = createKnownOutputs(steps, catalogue);
  for (const reference of references) {
    const step = steps.find(({ id }) => id === reference.source.name);
    const found = step && outputs.at(reference, step);
    if (found?.type !== "absent") continue;
    const suggestion = diagnostics.nearestField(found.key, found.declared);
    const message = `output ${reference.keys[1]} refers to ${reference.text}: ${absenceOf(reference.source.name, found)}${didYouMean(suggestion)}`;
    const isError = found.closed && policy.onMissingField === "error" && found.outputs === undefined;
    const severity = isError ? "error" : "warning";
    diagnostics.add(
      "REFERENCE_FIELD_UNKNOWN",
      { keys: reference.keys },
      { message, severity, suggestion, observedIn: found.outputs },
    );
  }
}
