import { isDeepStrictEqual } from "node:util";
import {
  isForEachStep,
  type Plan,
  pinsByTool,
  readersOf,
  type Step,
  type ToolPin,
  toolOfStep,
} from "@planwright/plan";
import type { PlanDocument, UnitResolution } from "../records/plan-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import { carriedUnits } from "./carry-over.ts";
import { unfinishedLists } from "./unfinished-lists.ts";

/** The facts that decide which units another plan carries over. */
export interface VersionFacts {
  /** The plan of the new version. */
  plan: Plan;
  /** The plan that is replaced. */
  old: Plan | null;
  /** Pins of both plans: a tool is the same one even if its name has changed. */
  toolPins?: { now: readonly ToolPin[] | undefined; before: readonly ToolPin[] | undefined } | undefined;
  /** The units of the old plan. */
  units: readonly StepDocument[];
  /** Operators' decisions on these units while the plan ran. */
  resolutions: readonly UnitResolution[];
  /** Steps of the new plan that depend on each of its steps, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
}

/** The steps of a version with another plan that run again. */
export interface VersionSteps {
  /** Steps that are identical in both plans. */
  same: ReadonlySet<string>;
  /** Steps that run again, or for the first time. */
  again: ReadonlySet<string>;
  /** Those of `again` whose earlier results are not used. */
  fromScratch: ReadonlySet<string>;
}

/**
 * Decides which steps of a version with another plan run again: all except completed steps that are identical
 * in both plans. A completed step also runs again if it used the output of a list with failed items or of a
 * changed step. Pure.
 */
export function versionSteps({ plan, old, toolPins, units, dependents }: VersionFacts): VersionSteps {
  // Without the pins of both plans only names are compared.
  const pins = toolPins?.now && toolPins.before ? toolPins : undefined;
  const before = stepsById(old?.steps ?? [], pins?.before);
  const now = stepsById(plan.steps, pins?.now);
  const same = new Set(
    [...now].filter(([id, step]) => isDeepStrictEqual(step, before.get(id))).map(([id]) => id),
  );
  const known = units.filter(({ stepId }) => same.has(stepId));
  const completed = new Set(
    known.filter(({ item, status }) => item === null && status === "COMPLETED").map(({ stepId }) => stepId),
  );
  const unfinished = unfinishedLists(known);
  const ids = plan.steps.map(({ id }): string => id);
  const changed = [...unfinished, ...ids.filter((id) => !same.has(id))];
  const outdated = readersOf(plan, changed, dependents);
  const isOpen = (id: string): boolean => !completed.has(id) || unfinished.has(id) || outdated.has(id);
  const again = new Set(ids.filter(isOpen));
  return { same, again, fromScratch: readersOf(plan, again, dependents) };
}

/** The calls of both plans by step id: tool, arguments and list, whatever else the steps say. Pure. */
export function callsOf({ plan, old, toolPins }: Pick<VersionFacts, "plan" | "old" | "toolPins">): {
  now: Map<string, unknown>;
  before: Map<string, unknown>;
} {
  const pins = toolPins?.now && toolPins.before ? toolPins : undefined;
  const calls = (steps: readonly Step[], pinned: readonly ToolPin[] | undefined): Map<string, unknown> => {
    const pinOf = pinsByTool(pinned);
    return new Map(
      steps.map((step): [string, unknown] => {
        const tool = pinnedTool(step, pinOf);
        return isForEachStep(step)
          ? [step.id, { tool, items: step.forEach.items, arguments: step.forEach.do.arguments }]
          : [step.id, { tool, arguments: step.arguments }];
      }),
    );
  };
  return { now: calls(plan.steps, pins?.now), before: calls(old?.steps ?? [], pins?.before) };
}

/**
 * The units of a version with another plan. Steps that do not run again are carried over as they are. Of a
 * list that failed or has failed items the completed items are carried over, unless the items may have
 * changed. All other units start again. Pure.
 */
export function carriedVersion(
  document: PlanDocument,
  facts: VersionFacts,
  { same, again, fromScratch } = versionSteps(facts),
): StepDocument[] {
  const { plan, units, resolutions } = facts;
  const known = units.filter(({ stepId }) => same.has(stepId));
  const carried = carriedUnits(document, { plan, units: known, resolutions }, { again, fromScratch });
  const positions = new Map(plan.steps.map(({ id }, position) => [id as string, position]));
  return carried.map((unit) => ({ ...unit, position: positions.get(unit.stepId) ?? unit.position }));
}

/**
 * Steps by id, with the pinned tool in place of the plan's name for it. Steps that differ only in `approval`
 * are equal.
 */
function stepsById(steps: readonly Step[], pins: readonly ToolPin[] | undefined): Map<string, unknown> {
  const pinOf = pinsByTool(pins);
  return new Map(
    steps.map((step) => {
      const tool = pinnedTool(step, pinOf);
      const { approval: _, ...call } = isForEachStep(step)
        ? { ...step, forEach: { ...step.forEach, do: { ...step.forEach.do, tool } } }
        : { ...step, tool };
      return [step.id, call];
    }),
  );
}

/** The pinned tool of a step, as server and name; its name in the plan without a pin. */
function pinnedTool(step: Step, pinOf: ReturnType<typeof pinsByTool>): unknown {
  const name = toolOfStep(step);
  const pin = pinOf.get(name);
  return pin ? [pin.server, pin.name] : name;
}
