import {
  actsWhenRepeated,
  catalogueOfPlan,
  createToolIndex,
  isTerminalPlanStatus,
  type PlanId,
  pinsByTool,
  type RequestId,
  type Step,
  type ToolDescriptor,
  toolOfStep,
  UNSTARTED_PLAN_STATUSES,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { HeadWrite } from "../journal/pending-write.ts";
import {
  carriedVersion,
  type VersionFacts,
  type VersionSteps,
  versionRepeats,
  versionSteps,
  withApprovals,
} from "../plans/carry-over.ts";
import { pinsOf, readPlans, versionsOf } from "../plans/earlier-calls.ts";
import { nextVersionTurn } from "../plans/version-turn.ts";
import type { NewVersion } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { GivenAnswer, RequestDocument } from "../records/request-document.ts";
import { readCatalogue } from "../tools/tool-store.ts";
import type { Idempotency } from "./acceptance.ts";
import {
  type AmendAnswer,
  type AmendedPlan,
  type ChangeDecision,
  changeRequest,
  entryKeyOf,
  findRepeated,
  isOtherVersion,
  keysInDoubt,
  type Repeated,
  type RepeatOptions,
  type RequestNow,
  versionEntry,
} from "./change-request.ts";
import { createReplan } from "./replan.ts";
import { createRerun } from "./rerun.ts";

/** The part of the store by which clients change requests. */
export function createChangeStore(dependencies: StoreDependencies) {
  return {
    ...createQueuePlan(dependencies),
    ...createAnswerQuestions(dependencies),
    ...createReplan(dependencies),
    ...createRerun(dependencies),
    ...createAmend(dependencies),
  };
}

function createAnswerQuestions(context: StoreDependencies) {
  const { requests } = context.collections;

  return {
    /**
     * Records answers to open questions of a request that is NEEDS_INPUT. Planning continues when no question
     * is open any more, or at once when the draft is discarded. Null, and nothing is recorded, when one of
     * the questions is no longer open.
     */
    async answerQuestions(
      tenant: string,
      requestId: RequestId,
      given: { answers: readonly Omit<GivenAnswer, "at">[]; discardsDraft: boolean; by?: string | undefined },
    ): Promise<RequestDocument | null> {
      const { answers, discardsDraft, by = "api" } = given;
      const ids = answers.map(({ questionId }) => questionId);
      const isOpen = ({ request, state }: RequestNow): boolean =>
        request.status === "NEEDS_INPUT" &&
        ids.every(
          (id) => state.planning.questions.includes(id) && request.questions.some((asked) => asked.id === id),
        );
      const decide = (now: RequestNow): ChangeDecision<null, true> => {
        if (!isOpen(now)) return null;
        const events = answers.map(({ questionId, answer }) => ({ questionId, answer }));
        return {
          events: [{ type: "answer.given", answers: events, discardsDraft }],
          by,
          following: [
            {
              collection: "requests",
              id: requestId,
              condition: { status: "NEEDS_INPUT", "questions.id": { $all: ids } },
              expressions: afterAnswers(ids),
            },
          ],
          changed: true,
        };
      };
      const answer = await changeRequest(context, { tenant, requestId, operation: "answer", decide });
      return answer ? requests.findOne({ _id: requestId, tenant }) : null;

      function afterAnswers(answered: readonly string[]) {
        const open = { $filter: { input: "$questions", cond: { $not: [{ $in: ["$$this.id", answered] }] } } };
        const added = answers.map((one) => ({ $mergeObjects: [{ $literal: one }, { at: "$$NOW" }] }));
        const ifLast = (whenLast: unknown, unchanged: unknown) =>
          discardsDraft ? whenLast : { $cond: [{ $eq: [{ $size: open }, 0] }, whenLast, unchanged] };
        return {
          questions: discardsDraft ? [] : open,
          answers: { $concatArrays: ["$answers", added] },
          updatedAt: "$$NOW",
          status: ifLast("PLANNING", "$status"),
          diagnostics: [],
          // Answering is progress: claims of the planners that asked no longer count.
          claims: ifLast(0, "$claims"),
          "planning.claimsOfWork": ifLast(0, "$planning.claimsOfWork"),
          dueAt: ifLast("$$NOW", "$dueAt"),
          "planning.finishedAt": ifLast(null, "$planning.finishedAt"),
          ...(discardsDraft ? { draft: null } : {}),
        };
      }
    },
  };
}

function createQueuePlan(context: StoreDependencies) {
  const { plans } = context.collections;

  return {
    /** READY -> QUEUED (the request: EXECUTING); any other status is kept. Null for an unknown plan. */
    async queuePlan(
      tenant: string,
      planId: PlanId,
      requestId: RequestId,
      by = "api",
    ): Promise<PlanDocument | null> {
      const decide = (now: RequestNow): ChangeDecision<null, true> => {
        const { request, plan } = now;
        // A later version is current.
        if (request.planId !== planId) return null;
        if (!plan) return whenPlanned(now, by);
        return plan.status === "READY" ? start(plan, by) : null;
      };
      await changeRequest(context, { tenant, requestId, operation: "execute", decide });
      return plans.findOne({ _id: planId, tenant });
    },
  };
}

/** READY -> QUEUED by an entry, which the executor that claims the plan reads. */
function start({ _id, requestId }: PlanDocument, by: string): ChangeDecision<null, true> {
  const stamps = { queuedAt: "$$NOW", dueAt: "$$NOW", updatedAt: "$$NOW" };
  return {
    events: [{ type: "execution.asked" }],
    by,
    planId: _id,
    following: [
      {
        collection: "plans",
        id: _id,
        condition: { status: "READY" },
        expressions: { status: "QUEUED", isFresh: false, ...stamps },
      },
      {
        collection: "requests",
        id: requestId,
        condition: { planId: _id, status: "READY" },
        expressions: { status: "EXECUTING", updatedAt: "$$NOW" },
      },
    ],
    changed: true,
  };
}

/** A plan that is still being made starts as soon as it is stored. */
function whenPlanned({ request }: RequestNow, by: string): ChangeDecision<null, true> {
  const { _id, planId, status, autoExecute } = request;
  if (status !== "PLANNING" || autoExecute) return null;
  return {
    events: [{ type: "execution.planned" }],
    by,
    following: [
      {
        collection: "requests",
        id: _id,
        condition: { status: "PLANNING", planId },
        set: { autoExecute: true },
      },
    ],
    changed: true,
  };
}

/** Separates the keys of amendments from those of other changes. */
const OPERATION = "amend";

function createAmend(context: StoreDependencies) {
  const { collections } = context;

  return {
    /**
     * The request, if an amendment with this key has made a version; otherwise undefined. Called before a
     * plan is checked: an amendment that is in the journal is not checked again. @throws
     * {IdempotencyKeyReusedError} when the key was used for something else
     */
    findAmended: (tenant: string, idempotency: Idempotency): Promise<Repeated | undefined> =>
      findRepeated(context, tenant, entryKeyOf(OPERATION, idempotency)),

    /**
     * Replaces a plan that has ended, or that was not started (it is SUPERSEDED), by another one that the
     * caller has checked. Steps that are identical in both and completed are carried over; all others run. Of
     * several simultaneous amendments one makes a version.
     * @throws {IdempotencyKeyReusedError} when the key was used for something else
     */
    async amendPlan(
      tenant: string,
      requestId: RequestId,
      amended: RepeatOptions & Omit<NewVersion, "origin">,
    ): Promise<AmendAnswer> {
      const { fromVersion, autoExecute, by = "api", idempotency } = amended;
      const accepted = new Set(amended.acceptRepeat);
      const index = createToolIndex(await readCatalogue(collections));
      const tools = catalogueOfPlan(amended.plan, index, pinsByTool(amended.toolPins));

      const decide = async ({
        request,
        plan: old,
        state,
      }: RequestNow): Promise<ChangeDecision<AmendAnswer, AmendedPlan>> => {
        if (isOtherVersion(request, fromVersion)) return { type: "other version", request };
        if (!old || request.status === "PLANNING") return { type: "no plan", request };
        const isUnstarted = UNSTARTED_PLAN_STATUSES.includes(old.status);
        if (!isUnstarted && !isTerminalPlanStatus(old.status)) return { type: "not ended", plan: old };
        const inDoubt = keysInDoubt(old, state);
        if (inDoubt.length > 0) return { type: "in doubt", keys: inDoubt };

        const plans = await readPlans(collections, { requestId: request._id, tenant });
        const facts = { plan: amended.plan, pins: pinsOf(amended), versions: versionsOf(plans, state) };
        const steps = versionSteps(facts);
        const { repeated, replaced } = versionRepeats(facts, steps);
        const isOpen = ({ ids }: { ids: readonly string[] }): boolean => !ids.some((id) => accepted.has(id));
        const acted = replaced.filter(isOpen).map(({ key }) => key);
        if (acted.length > 0) return { type: "may have acted", keys: acted };
        const toAccept = repeated.filter(isOpen).map(({ key }) => key);
        if (toAccept.length > 0) return { type: "repeat not accepted", keys: toAccept };
        const { toolPins, raw, diagnostics } = amended;
        const next = nextVersionTurn(context, {
          request,
          before: old,
          autoExecute,
          // Steps that run again only because an earlier step has changed need an operator's approval first, unless
          // the caller has accepted it.
          plan: withApprovals(amended.plan, steps.implied, accepted, tools),
          toolPins,
          raw,
          origin: { kind: "submitted", model: null },
          diagnostics,
          content: carriedVersion(facts, steps),
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

/** The write that supersedes a plan that was not started. */
function superseded({ _id, status }: PlanDocument, now: Date): HeadWrite {
  const set = { status: "SUPERSEDED", finishedAt: now, dueAt: null, updatedAt: now };
  return { collection: "plans", id: _id, condition: { status }, set };
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

/** Starts plans, makes other versions of them, and answers the questions of planners. */
export type ChangeStore = ReturnType<typeof createChangeStore>;
