import {
  emptyRequest,
  type FoldedRequest,
  fold,
  type JournalEvent,
  type PlanState,
  type StepRun,
  unitsInOrder,
} from "@planwright/engine";
import {
  catalogueOfPlan,
  createToolIndex,
  type Diagnostic,
  type JsonValue,
  type OpenQuestion,
  type Plan,
  pinsByTool,
  type RequestId,
  type RequestStatus,
} from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { readOutputs } from "../journal/outputs.ts";
import type { GroupSet } from "../journal/pending-write.ts";
import { readStepRuns, type UnitReads, withValues } from "../journal/unit-reads.ts";
import { createLeaseTable, type LeaseTable } from "../leases/lease-table.ts";
import { carriedVersion, versionRepeats, versionSteps, withApprovals } from "../plans/carry-over.ts";
import { pinsOf, readPlans, versionsOf } from "../plans/earlier-calls.ts";
import { isPlanEnd, parkedFor, REQUEST_STATUS } from "../plans/plan-end.ts";
import { NOTHING_CARRIED, nextVersionTurn, versionTurn } from "../plans/version-turn.ts";
import type { RecordedError } from "../records/errors.ts";
import { type NewVersion, newPlan } from "../records/new-documents.ts";
import {
  hasPlan,
  type OutputRef,
  type PlanDocument,
  type PlannedDocument,
} from "../records/plan-document.ts";
import type { KeptDraft, ModelWait, RequestDocument } from "../records/request-document.ts";
import { createCatalogueReads, readCatalogue } from "../tools/tool-store.ts";
import { createModelCalls, earlierCalls } from "./model-calls.ts";
import { createPlannerClaims, type PlannerClaims, type PlanningClaim } from "./planner-claims.ts";

/** Claims requests and records the results of planning, fenced by the journal. */
export function createPlanningStore(context: StoreDependencies) {
  const claims = createPlannerClaims(context);
  const requestLeases = createLeaseTable("requests", context);
  const firstPlan = createFirstPlan(context, claims);
  const replanning = createReplanning(context, claims);
  const answering = createAnswering(context, claims);

  /** Ends a request that has killed all planners that claimed it. */
  function endPoisoned(claim: PlanningClaim): Promise<void> {
    const tries = `started ${MAX_PLANNING_CLAIMS} times and never finished`;
    const poisoned = (message: string) => ({ code: "POISONED", message });
    switch (claim.request.planning.work) {
      case "replan":
        return replanning.failReplan(claim, {
          error: poisoned(`Replanning was ${tries}; the plan that failed is still the current one`),
          diagnostics: [],
        });
      case "answer":
        return answering.failAnswer(
          claim,
          poisoned(`Writing the answer was ${tries}; the results are available`),
        );
      default:
        return firstPlan.failPlanning(claim, {
          error: poisoned(`Planning was ${tries}; nothing was executed`),
          diagnostics: claim.request.diagnostics,
          raw: null,
          plan: null,
          origin: { kind: "offline", model: null },
        });
    }
  }

  return {
    ...createClaimRequests(context, requestLeases, claims, endPoisoned),
    requestLeases: requestLeases as Omit<typeof requestLeases, "claim">,
    ...firstPlan,
    ...replanning,
    ...answering,
    ...createPostponing(context, claims),
    ...createModelCalls(context, claims),
    ...createPlanRecords(context),
    ...createCatalogueReads(context.collections),
  };
}

/** The part of the store that stores an answer in words, or its error, for a request that has ended. */
function createAnswering({ clock }: StoreDependencies, claims: PlannerClaims) {
  function settle(
    claim: PlanningClaim,
    change: Pick<RequestDocument, "answer" | "answerError">,
    error: RecordedError | null,
  ): Promise<void> {
    const { _id, planId } = claim.request;
    const condition = { planId, "lease.epoch": claim.epoch, "planning.work": "answer" };
    const released = { lease: null, dueAt: null, "planning.wait": null };
    return claims.append<void>(claim, () => {
      const set = { ...change, ...released, updatedAt: new Date(clock.now()) };
      return {
        events: [{ type: "answer.written", error }],
        following: () => [{ collection: "requests", id: _id, condition, set }],
      };
    });
  }

  return {
    /** Stores the answer in words. The status of the request is kept. @throws {LeaseLostError} */
    completeAnswer: (claim: PlanningClaim, answer: string) =>
      settle(claim, { answer, answerError: null }, null),
    /** Stores why there is no answer. The status of the request is kept. @throws {LeaseLostError} */
    failAnswer: (claim: PlanningClaim, answerError: RecordedError) =>
      settle(claim, { answer: null, answerError }, answerError),
  };
}

/** A model that cannot be reached, and how long to wait for it. */
export interface ModelAway {
  error: RecordedError;
  /** Wait before the next try, in milliseconds. @param tries - number of such waits in a row, from 1 */
  pauseMs: (tries: number) => number;
  /** Wait that the provider asked for, in milliseconds: a shorter one is useless. */
  requestedMs: number;
  /** How long the model may be away before planning fails, in milliseconds. */
  unreachableMs: number;
}

/**
 * The part of the store that lets requests wait for a model that is away. The wait holds no lease: a planner
 * that dies meanwhile changes nothing, and any planner claims the request when it is due.
 */
function createPostponing({ clock }: StoreDependencies, claims: PlannerClaims) {
  return {
    /**
     * Releases a request whose model is away, until a planner has to try again. Null, and nothing is changed,
     * when the model has been away for too long. @throws {LeaseLostError}
     */
    postponePlanning: (claim: PlanningClaim, { error, pauseMs, requestedMs, unreachableMs }: ModelAway) =>
      claims.append<ModelWait | null>(claim, ({ planning: { away } }) => {
        const now = clock.now();
        const since = away?.since ?? new Date(now);
        const tries = (away?.tries ?? 0) + 1;
        const lastMs = since.getTime() + unreachableMs;
        // The last try is made when the time is over.
        if (now >= lastMs || now + requestedMs > lastMs) return { done: null };
        const dueAt = new Date(Math.min(now + Math.max(pauseMs(tries), requestedMs), lastMs));
        const until = new Date(lastMs);
        const wait: ModelWait = { error, since, tries, nextAttemptAt: dueAt, until };
        const { request, epoch } = claim;
        // The planner has survived, so its claims are no sign that the request kills planners.
        const set = { lease: null, dueAt, claims: 0, "planning.wait": wait, updatedAt: new Date(now) };
        return {
          events: [{ type: "planning.postponed", error, since, tries, dueAt, until }],
          following: () => [
            { collection: "requests", id: request._id, condition: { "lease.epoch": epoch }, set },
          ],
          done: wait,
        };
      }),
  };
}

/** Maximum number of claims without progress: a request that is claimed once more kills its planners. */
const MAX_PLANNING_CLAIMS = 5;

const RULES = {
  // Work on an answer begins after the request has ended.
  condition: { $or: [{ status: "PLANNING" }, { "planning.work": "answer" }] },
  expressions: {
    "planning.startedAt": { $ifNull: ["$planning.startedAt", "$$NOW"] },
    "planning.claimsOfWork": { $add: ["$planning.claimsOfWork", 1] },
  },
};

function createClaimRequests(
  { collections, journal }: StoreDependencies,
  leases: LeaseTable<"requests">,
  claims: PlannerClaims,
  endPoisoned: (claim: PlanningClaim) => Promise<void>,
) {
  /** The state by the journal, which is not read at the first claim of a sentence: it is empty then. */
  async function readState({ _id, source, epoch, version }: RequestDocument): Promise<FoldedRequest> {
    const isFirst = source === "query" && version === 1 && epoch === 1;
    return fold(emptyRequest(_id), isFirst ? [] : await journal.readWithoutValues(_id));
  }

  return {
    /** Claims a request that waits for a planner; null when there is nothing to do. */
    async claimRequest(requestId: RequestId, owner: string): Promise<PlanningClaim | null> {
      const request = await leases.claim(requestId, owner, RULES);
      if (!request) return null;
      const claim = await claims.begin(request, await readState(request));
      if (!claim) return null;
      if (request.claims > MAX_PLANNING_CLAIMS) {
        await endPoisoned(claim);
        return null;
      }
      if (request.planning.claimsOfWork > 1)
        claim.earlierCalls.push(...(await earlierCalls(collections, request)));
      return claim;
    },
  };
}

/** Largest output, and all outputs in plan order, in bytes: a prompt needs little of them. */
const MAX_OUTPUT_BYTES = 262_144;
const MAX_OUTPUTS_BYTES = 16_777_216;
const MAX_EARLIER = 20;

/** The result of a plan that has ended. */
export interface PlanRecord {
  plan: PlannedDocument;
  units: StepRun[];
  /** Outputs of completed units by key; those over 256 KiB are left out. */
  outputs: Map<string, JsonValue>;
  /** Earlier versions, newest first, at most 20. */
  earlier: Plan[];
}

function createPlanRecords({ collections, unitReads }: StoreDependencies) {
  const { plans } = collections;

  return {
    /** The result of the request's current plan; null when there is no valid plan. */
    async readPlanRecord({ request }: PlanningClaim): Promise<PlanRecord | null> {
      const { tenant, _id: requestId, planId } = request;
      const [plan, read, versions] = await Promise.all([
        plans.findOne({ _id: planId, tenant }),
        unitReads.ofPlan(tenant, planId),
        plans
          .find({ tenant, requestId, version: { $lt: request.version } })
          .sort({ version: -1 })
          .limit(MAX_EARLIER)
          .toArray(),
      ]);
      if (!plan || !hasPlan(plan) || plan.status === "INVALID" || !read) return null;
      const { units, outputs, refs } = await readUnits(unitReads, read);
      const separate = await readOutputs(collections, tenant, [...refs.values()]);
      for (const [key, { id }] of refs) {
        const output = separate.get(id);
        if (output !== undefined) outputs.set(key, output);
      }
      const earlier = versions.flatMap((version): Plan[] => (version.plan ? [version.plan] : []));
      return { plan, units, outputs, earlier };
    },
  };
}

/** Units with arguments and errors, and the outputs within the limits: all may need too much memory. */
async function readUnits({ log }: UnitReads, state: PlanState) {
  const { requestId } = state.outline;
  const refs = new Map<string, OutputRef>();
  let room = MAX_OUTPUTS_BYTES;
  const fitting = [...unitsInOrder(state)].flatMap(({ unit }) => {
    const sizeBytes = unit?.outputRef?.sizeBytes ?? unit?.outputBytes;
    if (unit?.status !== "COMPLETED" || sizeBytes === undefined) return [];
    if (sizeBytes > Math.min(room, MAX_OUTPUT_BYTES)) return [];
    room -= sizeBytes;
    if (unit.outputRef) refs.set(unit.key, unit.outputRef);
    return unit.outputRef ? [] : [{ requestId, unit }];
  });
  const [units, withOutputs] = await Promise.all([
    readStepRuns(log, state, { body: true }),
    withValues(log, fitting, { output: true }),
  ]);
  return {
    units,
    outputs: new Map<string, JsonValue>(withOutputs.map(({ key, output = null }) => [key, output])),
    refs,
  };
}

/** The part of the store that ends the planning of first plans: with a plan, with questions, or with an error. */
function createFirstPlan({ clock }: StoreDependencies, claims: PlannerClaims) {
  /**
   * The write to a request that is planned for the first time. Once the first version is in the journal the
   * request moves on, whichever planner has claimed it.
   */
  const whilePlanned = ({ request }: PlanningClaim, set: Document): GroupSet => {
    const { _id: id, version } = request;
    // A replan has the same version until it has made the next one.
    const condition = { version, status: "PLANNING", "planning.work": { $in: ["plan", null] } };
    return { collection: "requests", id, condition, set };
  };
  /** The same, only under this claim: the next claim may append such an event again. */
  const whileHeld = ({ request, epoch }: PlanningClaim, set: Document): GroupSet => {
    const condition = { status: "PLANNING", "lease.epoch": epoch };
    return { collection: "requests", id: request._id, condition, set };
  };

  return {
    /**
     * Stores the plan under the request's planId, and sets the request to READY, or EXECUTING with
     * autoExecute. Planning twice cannot store two plans. @throws {LeaseLostError}
     */
    completePlanning: (claim: PlanningClaim, result: NewVersion): Promise<PlanDocument> =>
      claims.append<PlanDocument>(claim, ({ planning }) => {
        const now = new Date(clock.now());
        const { request } = claim;
        const { executionPlannedAt: at } = planning;
        const isOrdered = at !== null && at >= (request.restoredAt ?? at);
        const autoExecute = request.autoExecute || isOrdered;
        const fresh = newPlan({ ...result, request, status: autoExecute ? "QUEUED" : "READY", now });
        const { document, events } = versionTurn(fresh, NOTHING_CARRIED, fresh);
        const status = autoExecute ? "EXECUTING" : "READY";
        const { diagnostics } = result;
        const set = { ...settled(now), status, autoExecute, diagnostics, draft: null };
        return {
          events,
          storesVersion: true,
          following: () => [{ collection: "plans", insert: document }, whilePlanned(claim, set)],
          done: document,
        };
      }),

    /**
     * Ends planning without a runnable plan: the request FAILED; an INVALID plan is stored if there is a plan
     * or raw text.
     * @throws {LeaseLostError}
     */
    failPlanning: (
      claim: PlanningClaim,
      { error, ...made }: NewVersion<Plan | null> & { error: RecordedError },
    ) =>
      claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const { request } = claim;
        const failed: JournalEvent = { type: "planning.failed", error };
        const set = { ...settled(now), status: "FAILED", error, diagnostics: made.diagnostics };
        if (made.raw === null && made.plan === null)
          return { events: [failed], following: () => [whileHeld(claim, set)] };
        const invalid = newPlan({ ...made, request, status: "INVALID", now });
        const { document, events } = versionTurn(invalid, NOTHING_CARRIED, invalid);
        return {
          events: [...events, failed],
          storesVersion: true,
          following: () => [{ collection: "plans", insert: document }, whilePlanned(claim, set)],
        };
      }),

    /** Ends planning with questions to the user: NEEDS_INPUT. @throws {LeaseLostError} */
    askQuestions: (
      claim: PlanningClaim,
      { questions, draft }: { questions: OpenQuestion[]; draft: KeptDraft | null },
    ) =>
      claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const questionsAsked = (claim.request.questionsAsked ?? 0) + questions.length;
        const set = { ...settled(now), status: "NEEDS_INPUT", questions, questionsAsked, draft };
        const asked = questions.map(({ id, question }) => ({ id, question }));
        return {
          events: [{ type: "question.asked", questions: asked }],
          following: () => [whileHeld(claim, set)],
        };
      }),
  };
}

function createReplanning(context: StoreDependencies, claims: PlannerClaims) {
  const { collections, clock } = context;
  const { plans } = collections;

  const currentPlan = ({ planId, tenant }: RequestDocument): Promise<PlanDocument | null> =>
    plans.findOne({ _id: planId, tenant });

  return {
    /**
     * Stores another version of the plan and moves the request to it: READY, or EXECUTING when the replan
     * asks for that. Completed steps that are the same in both versions are carried over with their outputs
     * and are never called again. Of a failed list that is the same in both, the completed items are carried
     * over. Replanning twice cannot store two versions. @throws {LeaseLostError | EntryTooLargeError} after
     * the second the claim is still valid, and nothing was stored
     */
    async completeReplan(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument> {
      const { request } = claim;
      const tools = await readCatalogue(collections);
      const old = await currentPlan(request);
      const { plan, toolPins } = result;
      const { _id: requestId, tenant } = request;
      const documents = await readPlans(collections, { requestId, tenant });
      return claims.append<PlanDocument>(claim, (state) => {
        const facts = { plan, pins: pinsOf({ toolPins }), versions: versionsOf(documents, state) };
        const steps = versionSteps(facts);
        // No caller can accept a repeat here: an operator is asked before the call.
        const { repeated, replaced } = versionRepeats(facts, steps);
        const toAsk = [...repeated, ...replaced].flatMap(({ ids }) => ids);
        const {
          document,
          events,
          request: next,
          now,
        } = nextVersionTurn(context, {
          ...result,
          plan: withApprovals(
            plan,
            new Set([...steps.implied, ...toAsk]),
            new Set(),
            catalogueOfPlan(plan, createToolIndex(tools), pinsByTool(toolPins)),
          ),
          request,
          before: old,
          autoExecute: request.replan?.execute ?? true,
          content: carriedVersion(facts, steps),
        });
        const { planId, version, status, autoExecute } = next;
        const { diagnostics } = result;
        const moved = { planId, version, status, autoExecute, diagnostics, error: null, replan: null };
        // Only the version is compared: once the new version is in the journal the request moves on,
        // whichever planner has claimed it.
        const condition = { version: request.version };
        return {
          events,
          planId,
          storesVersion: true,
          following: () => [
            { collection: "plans", insert: document },
            { collection: "requests", id: request._id, condition, set: { ...settled(now), ...moved } },
          ],
          done: document,
        };
      });
    },

    /**
     * Ends a replan without a new version: the request gets the status that its plan ended with, and the
     * error.
     * @throws {LeaseLostError}
     */
    async failReplan(
      claim: PlanningClaim,
      { error, diagnostics }: { error: RecordedError; diagnostics: Diagnostic[] },
    ) {
      const { request, epoch } = claim;
      const { _id, planId } = request;
      const status = endedAs(await currentPlan(request));
      const condition = {
        planId,
        status: "PLANNING",
        "lease.epoch": epoch,
        "planning.work": "replan",
      };
      await claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const ended = { status, error, diagnostics, replan: null, ...answerAfter(request, status, now) };
        return {
          events: [{ type: "planning.failed", error }],
          following: () => [
            { collection: "requests", id: _id, condition, set: { ...settled(now), ...ended } },
          ],
        };
      });
    },
  };
}

/** Fields of a request whose planning has ended or waits for the user. Pure. */
function settled(now: Date): Document {
  return { updatedAt: now, lease: null, dueAt: null, "planning.finishedAt": now, "planning.wait": null };
}

/** The status of a request by the end of its plan, which was not replaced. */
function endedAs(plan: PlanDocument | null): RequestStatus {
  return plan && isPlanEnd(plan.status) ? REQUEST_STATUS[plan.status] : "FAILED";
}

/** The fields for an answer that the client wants: planning of an answer from partial results, or the error. */
function answerAfter({ wantsAnswer }: RequestDocument, status: RequestStatus, now: Date): Document {
  if (wantsAnswer !== true) return {};
  if (status === "PARTIAL") return parkedFor("answer", now);
  const message = "The plan failed and replanning made no new one, so there are no results to describe";
  return { answerError: { code: "PLAN_NOT_COMPLETED", message } };
}

/** The operations that the planner needs. */
export type PlanningStore = ReturnType<typeof createPlanningStore>;
