import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { isJsonObject } from "../json/json.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import type { Fields } from "./read-fields.ts";

const MAX_FIELDS = 1_000;
const MAX_NAME_LENGTH = 256;

/** The steps that provide a field, by field name, in plan order. */
export type Providers = ReadonlyMap<string, readonly DraftStep[]>;

/** The declared fields of a call's output: a name or a list of names. */
export function readProvides(fields: Fields, step: DraftStep, diagnostics: DiagnosticCollector): string[] {
  const value = fields.get("provides")?.value;
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  const names = list.flatMap((name) =>
    typeof name === "string" && name.length <= MAX_NAME_LENGTH ? [name] : [],
  );
  if (names.length === list.length && list.length <= MAX_FIELDS) return [...new Set(names)];
  const message = `step ${step.id}: provides is a list of at most ${MAX_FIELDS} names of fields`;
  diagnostics.add("FIELD_INVALID", { step, keys: ["provides"] }, { message });
  return [];
}

/** The providers of each field, by calls and by contracts of their tools. */
export function providersOf(steps: readonly DraftStep[], catalogue: Catalogue | undefined): Providers {
  const providers = new Map<string, DraftStep[]>();
  for (const step of steps) {
    const tool = catalogue?.find(step.tool);
    const promised = tool ? (catalogue?.contractOf(tool).provides ?? []) : [];
    for (const field of new Set([...step.provides, ...promised])) {
      const known = providers.get(field);
      if (known) known.push(step);
      else providers.set(field, [step]);
    }
  }
  return providers;
}

/**
 * Makes steps wait for the providers of their missing required arguments, which outputs of dependencies fill
 * in (policy `mergeDependencyOutputs`). Providers before the step are preferred; a step that already waits
 * for one of them keeps its dependencies.
 */
export function addNeededProviders(
  steps: readonly DraftStep[],
  {
    providers,
    catalogue,
    diagnostics,
  }: { providers: Providers; catalogue: Catalogue; diagnostics: DiagnosticCollector },
): void {
  for (const step of steps) {
    const required = catalogue.find(step.tool)?.inputSchema?.["required"];
    if (!Array.isArray(required) || !isJsonObject(step.arguments)) continue;
    for (const field of required) {
      if (typeof field !== "string" || Object.hasOwn(step.arguments, field)) continue;
      addProviders(step, field, providers.get(field) ?? [], diagnostics);
    }
  }
}

function addProviders(
  step: DraftStep,
  field: string,
  all: readonly DraftStep[],
  diagnostics: DiagnosticCollector,
): void {
  const others = all.filter((other) => other !== step);
  const known = new Set([...step.dependsOn, ...step.references.map(({ source }) => source.name)]);
  if (others.length === 0 || others.some(({ id }) => known.has(id))) return;
  const earlier = others.filter(({ index }) => index < step.index);
  const ids = (earlier.length > 0 ? earlier : others).map(({ id }) => id);
  step.dependsOn.push(...ids);
  const message = `step ${step.id} waits for ${ids.slice(0, 10).join(", ")}: its tool ${step.tool} needs ${field}, which they provide`;
  diagnostics.add("DEPENDENCY_ADDED", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
}
