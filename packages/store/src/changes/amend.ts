import { isDeepStrictEqual } from "node:util";
import { needsAcceptance } from "@planwright/engine";
import {
  catalogueOfPlan,
  createToolIndex,
  hasSideEffects,
  isTerminalPlanStatus,
  type Plan,
  pinsByTool,
  type ToolDescriptor,
  toolOfStep,
  UNSTARTED_PLAN_STATUSES,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { outlineOf, stepDocuments } from "../journal/plan-units.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import type { PlanDocument, UnitResolution } from "../records/plan-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import { readCatalogue } from "../tools/tool-catalogue.ts";
import { askForRepeats } from "../versions/ask-for-repeats.ts";
import {
  callsOf,
  carriedVersion,
  type VersionFacts,
  type VersionSteps,
  versionSteps,
} from "../versions/carried-version.ts";
import { mayHaveActed } from "../versions/carry-over.ts";
import { dependentsOf } from "../versions/dependents-of.ts";
import { nextVersionTurn } from "../versions/version-turn.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest, isOtherVersion } from "./change-request.ts";
import type { AmendAnswer, AmendedPlan, ChangeStore } from "./change-store.ts";
import { entryKeyOf, findRepeated } from "./repeated.ts";
import { versionEntry } from "./version-entry.ts";

/** Separates the keys of amendments from those of other changes. */
const OPERATION = "amend";

/** The part of the store that replaces a plan by another one, written by a person or a program. */
export function createAmend(context: StoreDependencies): Pick<ChangeStore, "amendPlan" | "findAmended"> {
  const { collections } = context;

  return {
    findAmended: (tenant, requestId, idempotency) =>
      findRepeated(context, { tenant, requestId }, entryKeyOf(OPERATION, idempotency)),

    async amendPlan(tenant, requestId, amended): Promise<AmendAnswer> {
      const { fromVersion, autoExecute, by = "api", idempotency } = amended;
      const accepted = new Set(amended.acceptRepeat);
      const index = createToolIndex(await readCatalogue(collections));
      const tools = catalogueOfPlan(amended.plan, index, pinsByTool(amended.toolPins));
      const dependents = dependentsOf(amended.plan, tools);

      const decide = ({ request, plan: old, state }: ChangedRequest): AmendDecision => {
        if (isOtherVersion(request, fromVersion)) return no({ type: "other version", request });
        if (!old || request.status === "PLANNING") return no({ type: "no plan", request });
        const isUnstarted = UNSTARTED_PLAN_STATUSES.includes(old.status);
        if (!isUnstarted && !isTerminalPlanStatus(old.status)) return no({ type: "not ended", plan: old });
        const folded = state.plans.get(old._id);
        const units = stepDocuments({ outline: outlineOf(old), plan: folded });
        const inDoubt = units.filter(({ status }) => status === "IN_DOUBT").map(({ key }) => key);
        if (inDoubt.length > 0) return no({ type: "in doubt", keys: inDoubt });

        const resolutions = folded?.resolutions ?? [];
        const pins = { now: amended.toolPins, before: old.toolPins };
        const facts = { plan: amended.plan, old: old.plan, toolPins: pins, units, resolutions, dependents };
        const steps = versionSteps(facts);
        const open = units.filter(({ stepId }) => !accepted.has(stepId));
        const acted = actedWithOtherArguments(open, steps, resolutions);
        if (acted.length > 0) return no({ type: "may have acted", keys: acted });
        const repeated = repeatedSteps(facts, steps, units);
        const toAccept = repeated.filter(({ ids }) => !ids.some((id) => accepted.has(id)));
        if (toAccept.length > 0)
          return no({ type: "repeat not accepted", keys: toAccept.map(({ key }) => key) });
        // Steps that run again only because an earlier step has changed need an operator's approval first.
        const toApprove = { ...steps, named: changedSteps(amended.plan, steps) };
        const { toolPins, raw, diagnostics } = amended;
        const next = nextVersionTurn(context, {
          request,
          before: old,
          autoExecute,
          plan: askForRepeats(amended.plan, units, toApprove, tools),
          toolPins,
          raw,
          origin: { kind: "submitted", model: null },
          diagnostics,
          unitsOf: (fresh) => carriedVersion(fresh, facts, steps),
          repeats: repeated.map(({ key, planId }) => ({ key, planId, hasOtherArguments: false })),
        });
        const done = doneBefore(amended.plan, units, steps, tools);
        const answer: AmendedPlan = { type: "amended", request: next.request, plan: next.document, ...done };
        return versionEntry(next, by, answer, isUnstarted ? [superseded(old, next.now)] : []);
      };
      const asked = { tenant, requestId, operation: OPERATION, idempotency, decide };
      return (await changeRequest<AmendAnswer, AmendedPlan>(context, asked)) ?? { type: "unknown" };
    },
  };
}

type AmendDecision = ChangeDecision<AmendAnswer, AmendedPlan>;

function no(answer: AmendAnswer): AmendDecision {
  return { type: "answer", answer };
}

/** The write that supersedes a plan that was not started. */
function superseded({ _id, status }: PlanDocument, now: Date): FollowingWrite {
  const set = { status: "SUPERSEDED", finishedAt: now, dueAt: null, updatedAt: now };
  return { collection: "plans", filter: { _id, status }, set };
}

/** Ids of steps that have changed or are new. */
function changedSteps({ steps }: Plan, { same }: VersionSteps): Set<string> {
  return new Set(steps.map(({ id }): string => id).filter((id) => !same.has(id)));
}

/**
 * Keys of units with a call that acted, or may have acted without an answer, and that would be called again
 * with other arguments. That would be a second call with an effect.
 */
function actedWithOtherArguments(
  units: readonly StepDocument[],
  { same, again, fromScratch }: VersionSteps,
  resolutions: readonly UnitResolution[],
): string[] {
  const isOther = (id: string): boolean => again.has(id) && (!same.has(id) || fromScratch.has(id));
  return units
    .filter((unit) => isOther(unit.stepId) && mayHaveActed(unit, resolutions))
    .map(({ key }) => key);
}

/** A unit whose failed call acted or may have acted, and that the new plan calls again. */
interface RepeatedUnit {
  /** Its key; under another step id the id of the step that makes the same call. */
  key: string;
  /** The plan that called it. */
  planId: string;
  /** Ids by which an operator may accept the repeat: of its step, and of the steps with the same call. */
  ids: string[];
}

/** The units whose calls the new plan repeats: the same tool with the same arguments, under any step id. */
function repeatedSteps(
  facts: VersionFacts,
  { again }: VersionSteps,
  units: readonly StepDocument[],
): RepeatedUnit[] {
  const { now, before } = callsOf(facts);
  return units.filter(needsAcceptance).flatMap(({ key, stepId, planId }) => {
    const call = before.get(stepId);
    const same = [...now].filter(([id, other]) => again.has(id) && isDeepStrictEqual(other, call));
    const ids = same.map(([id]) => id);
    const [first] = ids;
    if (first === undefined) return [];
    return [{ key: ids.includes(stepId) ? key : first, planId, ids: [stepId, ...ids] }];
  });
}

/**
 * The steps that completed before: those that are carried over, and of those with side effects the repeated
 * and the not repeated ones.
 */
function doneBefore(
  { steps }: Plan,
  units: readonly StepDocument[],
  { again }: VersionSteps,
  tools: readonly ToolDescriptor[],
): Pick<AmendedPlan, "carried" | "repeated" | "notRepeated"> {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const completed = new Set(
    units.filter(({ item, status }) => item === null && status === "COMPLETED").map(({ stepId }) => stepId),
  );
  const done = steps.filter(({ id }) => completed.has(id));
  const acting = done.filter((step) => hasSideEffects(known.get(toolOfStep(step))));
  const idsOf = (all: readonly { id: string }[], isAgain: boolean): string[] =>
    all.map(({ id }) => id).filter((id) => again.has(id) === isAgain);
  return {
    carried: idsOf(done, false),
    repeated: idsOf(acting, true),
    notRepeated: idsOf(acting, false),
  };
}
