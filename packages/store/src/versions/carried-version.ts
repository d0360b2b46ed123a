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

/** What decides which units another plan takes over. */
export interface VersionFacts {
  /** The plan of the new version. */
  plan: Plan;
  /** The plan whose place it takes. */
  old: Plan | null;
  /** Pins of both: a tool that is called otherwise now is still the same one. */
  toolPins?: { now: readonly ToolPin[] | undefined; before: readonly ToolPin[] | undefined } | undefined;
  /** The units of that one. */
  units: readonly StepDocument[];
  /** What operators said of them while it ran. */
  resolutions: readonly UnitResolution[];
  /** Steps of the new plan that depend on each of its steps, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
}

/** What of a version with another plan runs again. */
export interface VersionSteps {
  /** Steps that stand in both plans, word for word. */
  same: ReadonlySet<string>;
  /** Steps that run again, or for the first time. */
  again: ReadonlySet<string>;
  /** Those of them whose earlier results count for nothing. */
  anew: ReadonlySet<string>;
}

/**
 * Which steps of a version with another plan run again: all but those that stand in both, word for word, and
 * that completed, unless they used the output of a list with failed items, or of a step that became another
 * one. Pure.
 */
export function versionSteps({ plan, old, toolPins, units, dependents }: VersionFacts): VersionSteps {
  // Names can be compared with names only, and tools with tools.
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
  return { same, again, anew: readersOf(plan, again, dependents) };
}

/**
 * The units of a version with another plan. What does not run again is carried over as it is; of a list that
 * did not complete, or not all of its items, those that did, unless they may be other ones now. Everything
 * else begins anew. Pure.
 */
export function carriedVersion(
  document: PlanDocument,
  facts: VersionFacts,
  { same, again, anew } = versionSteps(facts),
): StepDocument[] {
  const { plan, units, resolutions } = facts;
  const known = units.filter(({ stepId }) => same.has(stepId));
  const carried = carriedUnits(document, { plan, units: known, resolutions }, { again, anew });
  const positions = new Map(plan.steps.map(({ id }, position) => [id as string, position]));
  return carried.map((unit) => ({ ...unit, position: positions.get(unit.stepId) ?? unit.position }));
}

/**
 * Steps by id, each with the pinned tool itself in place of the plan's name for it. Whether approval is asked
 * first makes no other step.
 */
function stepsById(steps: readonly Step[], pins: readonly ToolPin[] | undefined): Map<string, unknown> {
  const pinOf = pinsByTool(pins);
  return new Map(
    steps.map((step) => {
      const name = toolOfStep(step);
      const pin = pinOf.get(name);
      const tool = pin ? [pin.server, pin.name] : name;
      const { approval: _, ...call } = isForEachStep(step)
        ? { ...step, forEach: { ...step.forEach, do: { ...step.forEach.do, tool } } }
        : { ...step, tool };
      return [step.id, call];
    }),
  );
}
