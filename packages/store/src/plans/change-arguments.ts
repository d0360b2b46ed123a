import {
  createToolIndex,
  type Diagnostic,
  isForEachStep,
  type JsonObject,
  type Plan,
  parsePlan,
  planGraph,
  type Step,
  type ToolDescriptor,
  toolContract,
  toolOfStep,
} from "@planwright/plan";
import { isUnsettled, type RerunFacts, unfinishedLists } from "./carry-over.ts";

/** New arguments for one step of a rerun; arguments that are not named are kept. */
export interface ArgumentChange {
  stepId: string;
  /** Values by name; for a list, for each of its calls. */
  set: JsonObject;
}

/** Why a step cannot get other arguments. */
export type ChangeRefusal =
  | { type: "unknown step"; stepId: string }
  /** The step is carried over and never called again. */
  | { type: "completed step"; stepId: string }
  /** Units of the step acted or may have acted: another call would be a second effect. */
  | { type: "may have acted"; keys: string[] };

/**
 * Why these steps cannot get other arguments; undefined when they can. Pure.
 * @param accepted - ids of steps whose effect may be repeated. Default: none
 */
export function refusedChange(
  plan: Plan,
  { units, resolutions }: Pick<RerunFacts, "units" | "resolutions">,
  changes: readonly ArgumentChange[],
  accepted: ReadonlySet<string> = new Set(),
): ChangeRefusal | undefined {
  const unfinished = unfinishedLists(units);
  for (const { stepId } of changes) {
    if (!plan.steps.some(({ id }) => id === stepId)) return { type: "unknown step", stepId };
    const own = units.filter((unit) => unit.stepId === stepId);
    const isCompleted = own.some(({ item, status }) => item === null && status === "COMPLETED");
    if (isCompleted && !unfinished.has(stepId)) return { type: "completed step", stepId };
    if (accepted.has(stepId)) continue;
    const keys = own.filter((unit) => isUnsettled(unit, resolutions)).map(({ key }) => key);
    if (keys.length > 0) return { type: "may have acted", keys };
  }
  return undefined;
}

/** A plan with other arguments, or its diagnostics. */
export type ChangedPlan =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * A plan in which these steps have other arguments, checked against the catalogue like a submitted plan. All
 * other steps are unchanged. Pure.
 * @param options - the catalogue with the names of the plan, and the sentence that the plan was made for
 */
export function changeArguments(
  plan: Plan,
  changes: readonly ArgumentChange[],
  options: { tools: readonly ToolDescriptor[]; request?: string | undefined },
): ChangedPlan {
  const sets = new Map(changes.map(({ stepId, set }) => [stepId, set]));
  const steps = plan.steps.map((step) => withArguments(step, sets.get(step.id)));
  const read = parsePlan({ ...plan, steps }, options);
  if (!read.ok) return read;
  const changed = new Map(read.plan.steps.map((step) => [step.id, step]));
  return {
    ok: true,
    plan: {
      ...plan,
      steps: plan.steps.map((step) => (sets.has(step.id) ? (changed.get(step.id) ?? step) : step)),
    },
    diagnostics: read.diagnostics.filter(({ stepId }) => stepId !== undefined && sets.has(stepId)),
  };
}

function withArguments(step: Step, set: JsonObject | undefined): Step {
  if (!set) return step;
  if (!isForEachStep(step)) return { ...step, arguments: { ...step.arguments, ...set } };
  const { forEach } = step;
  return {
    ...step,
    forEach: { ...forEach, do: { ...forEach.do, arguments: { ...forEach.do.arguments, ...set } } },
  };
}

/**
 * The direct dependents of each step, by the plan and by the contracts of its tools. Pure.
 * @param catalogue - with the names of the plan: see `catalogueOfPlan`
 */
export function dependentsOf(
  plan: Plan,
  catalogue: readonly ToolDescriptor[],
): ReadonlyMap<string, readonly string[]> {
  const index = createToolIndex(catalogue);
  const contracts = new Map(
    [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
      const tool = index.find(name);
      if (!tool) return [];
      const dependsOn = toolContract(tool).contract.dependsOn.map((dependency) => ({
        ...dependency,
        tool: index.findRelated(tool, dependency.tool)?.name ?? dependency.tool,
      }));
      return [[name, { dependsOn }] as const];
    }),
  );
  return planGraph(plan, { contracts }).dependents;
}
