import {
  actsWhenRepeated,
  catalogueOfPlan,
  createToolIndex,
  isTerminalPlanStatus,
  pinsByTool,
  type Step,
  type ToolDescriptor,
  toolOfStep,
  UNSTARTED_PLAN_STATUSES,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { readCatalogue } from "../tools/tool-catalogue.ts";
import { withApprovals } from "../versions/ask-for-repeats.ts";
import {
  carriedVersion,
  type VersionFacts,
  type VersionSteps,
  versionRepeats,
  versionSteps,
} from "../versions/carried-version.ts";
import { pinsOf, readPlans, versionsOf } from "../versions/earlier-calls.ts";
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

      const decide = async ({ request, plan: old, state }: ChangedRequest): Promise<AmendDecision> => {
        if (isOtherVersion(request, fromVersion)) return no({ type: "other version", request });
        if (!old || request.status === "PLANNING") return no({ type: "no plan", request });
        const isUnstarted = UNSTARTED_PLAN_STATUSES.includes(old.status);
        if (!isUnstarted && !isTerminalPlanStatus(old.status)) return no({ type: "not ended", plan: old });
        const inDoubt = [...(state.plans.get(old._id)?.units.values() ?? [])]
          .filter(({ status }) => status === "IN_DOUBT")
          .map(({ key }) => key);
        if (inDoubt.length > 0) return no({ type: "in doubt", keys: inDoubt });

        const plans = await readPlans(collections, { requestId: request._id, tenant });
        const facts = { plan: amended.plan, pins: pinsOf(amended), versions: versionsOf(plans, state) };
        const steps = versionSteps(facts);
        const { repeated, replaced } = versionRepeats(facts, steps);
        const isOpen = ({ ids }: { ids: readonly string[] }): boolean => !ids.some((id) => accepted.has(id));
        const acted = replaced.filter(isOpen).map(({ key }) => key);
        if (acted.length > 0) return no({ type: "may have acted", keys: acted });
        const toAccept = repeated.filter(isOpen).map(({ key }) => key);
        if (toAccept.length > 0) return no({ type: "repeat not accepted", keys: toAccept });
        const { toolPins, raw, diagnostics } = amended;
        const next = nextVersionTurn(context, {
          request,
          before: old,
          autoExecute,
          // Steps that run again only because an earlier step has changed need an operator's approval first.
          plan: withApprovals(amended.plan, steps.implied, tools),
          toolPins,
          raw,
          origin: { kind: "submitted", model: null },
          diagnostics,
          unitsOf: (fresh) => carriedVersion(fresh, facts, steps),
          repeats: repeated.map(({ key, planId, isDone }) => ({
            key,
            planId,
            hasOtherArguments: false,
            ...(isDone && { isDone }),
          })),
          accepted: new Set([...accepted, ...repeated.flatMap(({ steps: same }) => same)]),
        });
        const done = doneBefore(facts, steps, tools);
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

/**
 * The steps that completed before: those that are carried over, and of those with side effects the ones that
 * are called again, with other arguments or accepted, and the ones that are not.
 */
function doneBefore(
  { plan, versions: [latest] }: VersionFacts,
  { sources, again }: VersionSteps,
  tools: readonly ToolDescriptor[],
): Pick<AmendedPlan, "carried" | "repeated" | "notRepeated"> {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const isActing = (step: Step): boolean => actsWhenRepeated(known.get(toolOfStep(step)));
  const isDone = (id: string): boolean => latest?.folded.units.get(id)?.status === "COMPLETED";
  const idsOf = (steps: readonly Step[]): string[] => steps.map(({ id }) => id);
  const carried = plan.steps.filter(({ id }) => sources.get(id)?.isComplete);
  return {
    carried: idsOf(carried),
    repeated: idsOf(plan.steps.filter((step) => again.has(step.id) && isDone(step.id) && isActing(step))),
    notRepeated: idsOf(carried.filter(isActing)),
  };
}
