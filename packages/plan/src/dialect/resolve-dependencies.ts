import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import { type DraftStep, MAX_DEPENDENCIES } from "../document/draft-step.ts";
import type { Policy } from "../policy/policy.ts";
import { type Located, locateRoot, type Names } from "../reference/locate-root.ts";
import type { TextReference } from "../reference/read-reference.ts";
import { scanText } from "../reference/scan-text.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import type { Providers } from "./provided-fields.ts";
import type { Translator } from "./translate-notations.ts";

/** Context for resolving dependencies. */
export interface DependencyContext {
  readonly names: Names;
  readonly candidates: () => Iterable<string>;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Providers of fields, because a dependency may name a field. */
  readonly providers: Providers;
  readonly translator: Translator;
}

/**
 * Converts dependencies that are a number, a label, or a reference to a complete output into step ids; other
 * dependencies stay unchanged.
 */
export function nameDependencies(
  step: DraftStep,
  { names, translator }: Pick<DependencyContext, "names" | "translator">,
): void {
  step.dependsOn = step.dependsOn.map((name) =>
    locateRoot(name, [], names).type === "unknown" ? (translator.stepId(name) ?? name) : name,
  );
}

/**
 * Converts the dependencies of a step into step ids. A tool's name means all other steps with that tool, the
 * name of a field all other steps that provide it. A dependency that is not in the plan is an error, or is
 * left out with a warning if the policy says so. The same applies to a step that depends on itself.
 */
export function resolveDependencies(step: DraftStep, context: DependencyContext): void {
  const ids = new Set<string>();
  for (const [position, name] of step.dependsOn.entries()) {
    for (const id of dependencyIds(name, position, step, context)) ids.add(id);
  }
  step.dependsOn = [...ids];
}

function dependencyIds(
  name: string,
  position: number,
  step: DraftStep,
  context: DependencyContext,
): readonly string[] {
  const { names, policy, diagnostics } = context;
  const where = { step, keys: ["dependsOn", position] };
  const located = locateDependency(name, names);
  if (!located) return [];
  const several = located.type === "unknown" ? separated(name, step, names) : [];
  if (several.length > 0) return several;
  switch (located.type) {
    case "step":
      if (located.name !== step.id) return [located.name];
      break;
    case "ambiguous": {
      const others = located.candidates.filter((id) => id !== step.id);
      if (others.length > 0) return others;
      break;
    }
    case "scope":
    case "forbidden":
    case "unknown": {
      const providers = context.providers.get(name)?.filter((other) => other !== step) ?? [];
      if (providers.length > 0) return providers.map(({ id }) => id);
      const suggestion = diagnostics.nearest(name, context.candidates());
      const message = `step ${step.id} depends on ${cut(name)}: no such step${didYouMean(suggestion)}`;
      if (policy.onAbsentDependency === "ignore") {
        diagnostics.add("DEPENDENCY_IGNORED", where, {
          message: `${message}; ignored`,
          severity: "warning",
          suggestion,
        });
      } else diagnostics.add("DEPENDENCY_UNKNOWN", where, { message, suggestion });
      return [];
    }
  }
  const severity = policy.onCycle === "error" ? "error" : "warning";
  const message = `step ${step.id} depends on itself; remove that dependency`;
  diagnostics.add("DEPENDENCY_SELF", where, { message, severity });
  return [];
}

/** Texts that mean: no dependency. */
const NO_DEPENDENCY = /^(?:none|null|nil|n\/a|-|-1|\[\]|\{\})$/i;

/**
 * Locates a dependency by a step id, a tool, or a reference to its output (`<<s1._id>>`, `s1._id`). Undefined
 * for a text that means no dependency.
 */
function locateDependency(name: string, names: Names): Located | undefined {
  const located = locateRoot(name, [], names);
  if (located.type !== "unknown") return located;
  if (NO_DEPENDENCY.test(name)) return undefined;
  const reference = wholeReference(name) ?? wholeReference(`<<${name}>>`);
  return reference ? locateRoot(reference.root, reference.path, names) : located;
}

/** The names in a comma-separated text such as "find, read", when all are steps; otherwise none. */
function separated(name: string, step: DraftStep, names: Names): string[] {
  const parts = name.split(/[,;]/, MAX_DEPENDENCIES).map((part) => part.trim());
  const located = parts.filter((part) => part !== "").map((part) => locateDependency(part, names));
  if (parts.length < 2) return [];
  const ids = located.flatMap((each) => (each?.type === "step" && each.name !== step.id ? [each.name] : []));
  return ids.length === located.length ? ids : [];
}

function wholeReference(text: string): TextReference | undefined {
  const parts = scanText(text)?.parts ?? [];
  const [only] = parts;
  return parts.length === 1 && only?.type === "reference" ? only : undefined;
}

/**
 * Makes steps wait for the tools in their tool's contract; a name there may also be that of a field that other
 * steps provide. A step that already depends on one call of such a tool, or refers to it, keeps its
 * dependencies; any other step waits for all calls of the tool.
 */
export function addContractDependencies(
  steps: readonly DraftStep[],
  catalogue: Catalogue,
  context: DependencyContext,
): void {
  const stepsOf = new Map<string, DraftStep[]>();
  for (const step of steps) {
    const name = catalogue.find(step.tool)?.name ?? step.tool;
    const users = stepsOf.get(name);
    if (users) users.push(step);
    else stepsOf.set(name, [step]);
  }
  for (const step of steps) {
    const tool = catalogue.find(step.tool);
    if (!tool) continue;
    for (const dependency of catalogue.contractOf(tool).dependsOn) {
      const name = catalogue.findFor(tool, dependency.tool)?.name ?? dependency.tool;
      if (name === tool.name) continue;
      const providers = () => context.providers.get(dependency.tool)?.filter((other) => other !== step);
      addContractDependency(step, name, stepsOf.get(name) ?? providers() ?? [], context);
    }
  }
}

function addContractDependency(
  step: DraftStep,
  tool: string,
  users: readonly DraftStep[],
  context: DependencyContext,
): void {
  const { policy, diagnostics } = context;
  if (users.length === 0) {
    const message = `step ${step.id} calls ${step.tool}, which needs a call of ${tool} before it, and the plan has none`;
    if (policy.onAbsentDependency === "ignore") {
      diagnostics.add(
        "DEPENDENCY_IGNORED",
        { step },
        { message: `${message}; ignored`, severity: "warning" },
      );
    } else
      diagnostics.add(
        "CONTRACT_DEPENDENCY_ABSENT",
        { step },
        { message: `${message}; add a step for it`, suggestion: tool },
      );
    return;
  }
  const known = new Set([...step.dependsOn, ...step.references.map(({ source }) => source.name)]);
  if (users.some(({ id }) => known.has(id))) return;
  const ids = users.map(({ id }) => id);
  step.dependsOn.push(...ids);
  const message = `step ${step.id} waits for ${ids.slice(0, 10).join(", ")}: its tool ${step.tool} needs ${tool} before it`;
  diagnostics.add("DEPENDENCY_ADDED", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
}

/** Reports a step with too many dependencies: a tool's name can mean many steps. */
export function checkDependencyCount(step: DraftStep, diagnostics: DiagnosticCollector): void {
  if (step.dependsOn.length <= MAX_DEPENDENCIES) return;
  const message = `step ${step.id} waits for ${step.dependsOn.length} steps; at most ${MAX_DEPENDENCIES} are allowed`;
  diagnostics.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
}
