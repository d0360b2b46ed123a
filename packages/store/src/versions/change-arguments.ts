import {
  type Diagnostic,
  isForEachStep,
  type JsonObject,
  type Plan,
  parsePlan,
  type Step,
  type ToolDescriptor,
} from "@planwright/plan";
import { mayHaveActed, type RerunFacts } from "./carry-over.ts";
import { unfinishedLists } from "./unfinished-lists.ts";

/** Arguments of one step that are to be other ones when it runs again; those that are not named stay. */
export interface ArgumentChange {
  stepId: string;
  /** By name; for a list, of each of its calls. */
  set: JsonObject;
}

/** Why a step's arguments stay as they are. */
export type ChangeRefusal =
  | { type: "unknown step"; stepId: string }
  /** It is carried over and never called again. */
  | { type: "completed step"; stepId: string }
  /** Units of it may have acted, or did: another call would act beside them. */
  | { type: "may have acted"; keys: string[] };

/** Whether these steps may get other arguments: undefined when they may. Pure. */
export function refusedChange(
  plan: Plan,
  { units, resolutions }: Pick<RerunFacts, "units" | "resolutions">,
  changes: readonly ArgumentChange[],
): ChangeRefusal | undefined {
  const unfinished = unfinishedLists(units);
  for (const { stepId } of changes) {
    if (!plan.steps.some(({ id }) => id === stepId)) return { type: "unknown step", stepId };
    const own = units.filter((unit) => unit.stepId === stepId);
    const isCompleted = own.some(({ item, status }) => item === null && status === "COMPLETED");
    if (isCompleted && !unfinished.has(stepId)) return { type: "completed step", stepId };
    const keys = own.filter((unit) => mayHaveActed(unit, resolutions)).map(({ key }) => key);
    if (keys.length > 0) return { type: "may have acted", keys };
  }
  return undefined;
}

/** A plan with other arguments, or everything that is wrong with it. */
export type ChangedPlan =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * A plan in which these steps have other arguments, checked against the catalogue as a submitted plan is.
 * Every other step stays as it is, word for word. Pure.
 * @param options - the catalogue as the plan knows it, and the sentence that it was made for
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
