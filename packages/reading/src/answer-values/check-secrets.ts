import { argumentsOfStep, conditionsOf, isForEachStep, type JsonValue, type Plan } from "@planwright/plan";
import {
  cut,
  type DiagnosticCollector,
  placeKeys,
  secretsMentioned,
  visitTexts,
} from "@planwright/plan/internal";
import type { FactValues } from "./fact-values.ts";

/**
 * Refuses names of secrets from a model that neither the query nor the caller's facts contain literally:
 * descriptions and outputs of tools may try to make the model use a secret.
 */
export function checkSecretSources(
  plan: Plan,
  { query, facts }: { query: string | undefined; facts: Pick<FactValues, "secrets"> },
  diagnostics: DiagnosticCollector,
): void {
  let named: ReadonlySet<string> | undefined;
  const isNamed = (name: string): boolean => {
    named ??= new Set([...secretsMentioned(query ?? ""), ...facts.secrets]);
    return name !== "" && named.has(name);
  };
  for (const [index, step] of plan.steps.entries()) {
    const check = (value: JsonValue, below: readonly string[]): void =>
      visitTexts(value, (text, place) => {
        if (secretsMentioned(text).every(isNamed)) return;
        const message = `step ${step.id}: ${cut(text)} names a secret that the query does not name; leave it out`;
        const where = { step: { index, id: step.id }, keys: [...below, ...placeKeys(place)] };
        diagnostics.add("SECRET_UNSOURCED", where, { message });
      });
    if (isForEachStep(step)) check(step.forEach.items, ["forEach", "items"]);
    check(argumentsOfStep(step), isForEachStep(step) ? ["forEach", "do", "arguments"] : ["arguments"]);
    for (const { condition, keys } of conditionsOf(step)) check(condition, keys);
  }
}
