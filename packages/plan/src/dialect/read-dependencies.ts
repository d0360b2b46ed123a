import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { dependencyNames } from "../document/dependency-names.ts";
import { type DraftStep, MAX_DEPENDENCIES } from "../document/draft-step.ts";
import { stringifyExactJson } from "../json/exact-json.ts";
import type { Fields } from "./read-fields.ts";

/**
 * The explicit dependencies of a step, as written: steps or tools, in any form of `dependencyNames`. Any
 * other value gets a diagnostic.
 */
export function readDependencies(
  fields: Fields,
  step: DraftStep,
  diagnostics: DiagnosticCollector,
): string[] {
  const names = ["dependsOn", "after"].flatMap((field) => {
    const value = fields.get(field)?.value;
    if (value === undefined) return [];
    const read = dependencyNames(value)?.map(({ name }) => name);
    if (read && read.length <= MAX_DEPENDENCIES) return read;
    const message = `step ${step.id}: ${field} is a list of at most ${MAX_DEPENDENCIES} step ids, not ${cut(stringifyExactJson(value))}`;
    diagnostics.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
    return [];
  });
  return [...new Set(names)];
}
