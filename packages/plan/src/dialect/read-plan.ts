import { type Diagnostic, DiagnosticCollector } from "../document/diagnostic.ts";
import type { DraftStep, Plan, Step } from "../document/plan.ts";
import {
  type Limits,
  type LimitsInput,
  MAX_STEP_TIMEOUT_MS,
  type Policy,
  type PolicyInput,
  readLimits,
  readPolicy,
  tightenLimits,
} from "../document/policy.ts";
import { planGraph } from "../graph/plan-graph.ts";
import type { JsonValue } from "../json/json.ts";
import { locateRoot, type Names } from "../reference/read-reference.ts";
import {
  duplicateTools,
  type LeftOutTool,
  type ToolDescriptor,
  toolIndexOf,
} from "../tools/tool-descriptor.ts";
import { type Catalogue, createCatalogue, createKnownOutputs } from "../validation/catalogue.ts";
import {
  checkForEach,
  checkIds,
  checkOutputs,
  checkPlaceholders,
  checkRecursion,
  checkSecrets,
  checkTools,
  type ToolChecking,
} from "../validation/check-tools.ts";
import { addNeededProviders, providersOf } from "./call-fields.ts";
import { type PlanDocument, readDocument, readOutputs } from "./read-document.ts";
import { readStep, readValue } from "./read-step.ts";
import {
  addContractDependencies,
  checkDependencyCount,
  type DependencyContext,
  keepOrder,
  nameDependencies,
  orderSteps,
  type Places,
  resolveDependencies,
} from "./resolve-dependencies.ts";
import { type Rewriting, rewriteStep, withoutNulls } from "./rewrite-step.ts";
import { insertAbsentSteps, nameSteps, namesOfDrafts, renameIds } from "./step-ids.ts";
import { createTranslator, type Translator } from "./translate-notations.ts";

/** Options of {@link readPlan}. */
interface ReadPlanOptions {
  /** A catalogue against which the plan is also checked. */
  readonly tools?: readonly ToolDescriptor[] | undefined;
  /** Tools that servers list and that are not in `tools`: a plan that calls one is told why. Default: none. */
  readonly leftOut?: readonly LeftOutTool[] | undefined;
  readonly policy?: PolicyInput | undefined;
  readonly limits?: LimitsInput | undefined;
  /**
   * Upper limit for a step's own timeout, in milliseconds; a longer timeout gets a warning. Default {@link
   * MAX_STEP_TIMEOUT_MS}.
   */
  readonly maxStepTimeoutMs?: number | undefined;
  /** The request, if known: text that it contains literally is not a reference, whatever its form. */
  readonly request?: string | undefined;
  /** Number of steps at the beginning that are already in canonical form and in our notation. Default 0. */
  readonly given?: number | undefined;
  /**
   * False: `executionOrder` only sorts the steps, because its author did not mean it for effects. Default:
   * true, and always under the profile tool-chaining.
   */
  readonly keepsOrder?: boolean | undefined;
  /** The plan must be in canonical form: what readers of other dialects allow is an error. Default: false. */
  readonly isCanonical?: boolean | undefined;
}

/** The diagnostics, and a plan when the input could be read, even with errors. */
interface ReadPlan {
  readonly plan: Plan | undefined;
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads a plan of any dialect and finds all its errors, in this order: document, steps, ids, order, absent
 * dependencies, references, dependencies, and the tools. Each stage relies on the earlier ones. Takes time
 * linear in the size of the input.
 */
export function readPlan(input: unknown, options: ReadPlanOptions): ReadPlan {
  const diagnostics = new DiagnosticCollector(options);
  const plan = readInto(input, options, diagnostics);
  return { plan, diagnostics: diagnostics.toDiagnostics() };
}

function readInto(
  input: unknown,
  options: ReadPlanOptions,
  diagnostics: DiagnosticCollector,
): Plan | undefined {
  if (options.tools) duplicateTools(toolIndexOf(options.tools).tools, diagnostics);
  const hostLimits = readLimits(options.limits, diagnostics);
  const value = readValue(input, hostLimits, diagnostics);
  const document = value === undefined ? undefined : readDocument(value, diagnostics);
  if (!document) return undefined;
  const policy = readPolicy(document.policy, options.policy, diagnostics);
  const limits = tightenLimits(hostLimits, document.limits, diagnostics);
  if (isOverSteps(document.calls.length, limits, diagnostics)) return undefined;
  const catalogue = options.tools && createCatalogue(options.tools, { ...policy, leftOut: options.leftOut });
  const { steps, places } = readSteps(document, { limits, catalogue, diagnostics });
  if (steps.length === 0) return undefined;
  if (policy.onAbsentDependency === "insert" && catalogue)
    insertAbsentSteps(steps, catalogue, limits.maxSteps, diagnostics);
  const names = namesOfDrafts(steps);
  const { request, given = 0 } = options;
  const translator = createTranslator({
    steps,
    names,
    policy,
    diagnostics,
    request,
    literals: document.literals,
    given,
  });
  linkSteps(steps, { names, policy, catalogue, diagnostics, translator });
  if (catalogue && (options.keepsOrder !== false || policy.profile === "tool-chaining"))
    keepOrder(steps, places, { catalogue, diagnostics });
  for (const step of steps) checkDependencyCount(step, diagnostics);
  const candidates = () => steps.map(({ id }) => id);
  const requestedOutputs =
    document.outputs && readOutputs(document.outputs, { names, candidates, diagnostics, translator });
  const plan: Plan = {
    formatVersion: 1,
    steps: steps.map(toStep),
    ...(requestedOutputs && { outputs: requestedOutputs.outputs }),
    policy,
    limits,
  };
  checkCycle(plan, steps, policy, diagnostics);
  if (catalogue) {
    const isLiteral: ToolChecking["isLiteral"] = (text, how) => translator.keepLiteral(text, how !== "words");
    const { maxStepTimeoutMs = MAX_STEP_TIMEOUT_MS } = options;
    const checking = { catalogue, policy, diagnostics, maxStepTimeoutMs, isLiteral };
    checkTools(steps, checking);
    if (requestedOutputs) checkOutputs(requestedOutputs.references, steps, checking);
  }
  return translator.literals.length > 0 ? { ...plan, literals: translator.literals.toSorted() } : plan;
}

function isOverSteps(count: number, { maxSteps }: Limits, diagnostics: DiagnosticCollector): boolean {
  if (count <= maxSteps) return false;
  const message = `The plan has ${count} steps; at most ${maxSteps} are allowed; split it`;
  diagnostics.add("LIMIT_STEPS", { keys: ["steps"] }, { message });
  return true;
}

interface StepsContext {
  limits: Limits;
  catalogue: Catalogue | undefined;
  diagnostics: DiagnosticCollector;
}

function readSteps(
  document: PlanDocument,
  { limits, catalogue, diagnostics }: StepsContext,
): { steps: DraftStep[]; places: Places } {
  const steps = document.calls.flatMap(
    (call: JsonValue, index) => readStep(call, index, { limits, catalogue, diagnostics }) ?? [],
  );
  renameIds(steps, diagnostics);
  nameSteps(steps);
  const places = orderSteps(steps, document.executionOrder, { catalogue, diagnostics });
  checkIds(steps, diagnostics);
  checkRecursion(steps, diagnostics);
  if (!catalogue) return { steps, places };
  for (const step of steps) {
    const tool = catalogue.find(step.tool);
    // A short name that only one server offers means that server's tool.
    step.tool = tool?.name ?? step.tool;
    step.arguments = withoutNulls(step.arguments, tool?.inputSchema);
  }
  return { steps, places };
}

interface LinkContext {
  names: Names;
  policy: Policy;
  catalogue: Catalogue | undefined;
  diagnostics: DiagnosticCollector;
  translator: Translator;
}

function linkSteps(steps: readonly DraftStep[], { catalogue, ...link }: LinkContext): void {
  const { names, policy, diagnostics } = link;
  const candidates = () => steps.map(({ id }) => id);
  const aliases = new Map(steps.flatMap(({ id, forEach }) => (forEach ? [[forEach.as, id] as const] : [])));
  const outputs = catalogue && createKnownOutputs(steps, catalogue);
  const providers = providersOf(steps, catalogue);
  const context: DependencyContext & Rewriting = { ...link, candidates, aliases, outputs, providers };
  const isKnown = (name: string) => locateRoot(name, [], names).type !== "unknown";
  for (const step of steps) nameDependencies(step, link);
  for (const step of steps) {
    rewriteStep(step, context);
    resolveDependencies(step, context);
    checkForEach(step, names.hasStep, diagnostics);
    const schema = catalogue?.find(step.tool)?.inputSchema;
    checkPlaceholders(step, {
      hasStep: isKnown,
      isLiteral: link.translator.keepLiteral,
      schema,
      diagnostics,
    });
    checkSecrets(step, diagnostics);
  }
  if (catalogue) addContractDependencies(steps, catalogue, context);
  if (catalogue && policy.mergeDependencyOutputs)
    addNeededProviders(steps, { providers, catalogue, diagnostics });
}

/** The canonical form of a step, with fields always in this order. */
function toStep(draft: DraftStep): Step {
  const { id, tool, forEach, dependsOn, when, options } = draft;
  const common = { dependsOn, ...(when && { when }), ...options };
  if (forEach) {
    const { do: _, ...list } = forEach;
    return { id, forEach: { ...list, do: { tool, arguments: draft.arguments } }, ...common };
  }
  return { id, tool, arguments: draft.arguments, ...common };
}

function checkCycle(
  plan: Plan,
  steps: readonly DraftStep[],
  policy: Policy,
  diagnostics: DiagnosticCollector,
): void {
  const { cycle } = planGraph(plan);
  const [first] = cycle ?? [];
  // Steps that refer to themselves already have diagnostics.
  if (!cycle || first === undefined || cycle.length < 2) return;
  const shown = cycle.length > 20 ? [...cycle.slice(0, 20), "..."] : cycle;
  const path = [...shown, first].join(" -> ");
  const step = steps.find(({ id }) => id === first);
  if (policy.onCycle === "error") {
    const message = `steps wait for each other: ${path}; remove one of these dependencies`;
    diagnostics.add("CYCLE", { step, keys: ["dependsOn"] }, { message });
  } else {
    const message = `steps wait for each other: ${path}; the policy ${policy.onCycle} lets them start`;
    diagnostics.add("CYCLE_BROKEN", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
  }
}

/**
 * Options of {@link parsePlan}: `tools` (also validates), `policy` (overrides the document's), `limits` (a
 * document may only tighten them).
 */
export type ParsePlanOptions = ReadPlanOptions;

/** A plan in canonical form with its warnings, or all errors of the input. */
type ParsePlanResult =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * Reads a plan in any dialect, from a value or from JSON text, into the canonical form: arguments are
 * objects, references are `<<step.path>>` with step ids, dependencies are step ids, policy and limits are
 * complete. The input is not changed and the plan shares nothing with it. Steps without an id are named after
 * their tool. Takes linear time and never throws, for any input.
 */
export function parsePlan(input: unknown, options: ParsePlanOptions = {}): ParsePlanResult {
  const { plan, diagnostics } = readPlan(input, options);
  const isRefused = diagnostics.some(({ severity }) => severity === "error");
  return plan && !isRefused ? { ok: true, plan, diagnostics } : { ok: false, diagnostics };
}

/**
 * All diagnostics of a plan; it may run when none has the severity `error`. The plan's own limits apply. A
 * plan in canonical form has no notes: a field that readers of other dialects ignore is an error here, and so is a
 * condition about items beside their forEach, which these readers move into it.
 * @param policy - options that override the plan's policy
 */
export function validatePlan(
  plan: Plan,
  tools: readonly ToolDescriptor[],
  policy?: PolicyInput,
): Diagnostic[] {
  return readPlan(plan, { tools, policy, limits: plan?.limits, isCanonical: true }).diagnostics;
}
