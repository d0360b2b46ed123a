import { sumOf } from "@planwright/engine";
import type { LeftOutTool, PolicyInput, ToolDescriptor } from "@planwright/plan";
import {
  exceededLimit,
  type GivenContext,
  LeaseLostError,
  type ModelCallDocument,
  type ModelLimits,
  type ModelSpending,
  modelUseOf,
  NO_SPENDING,
  newPlan,
  newRequest,
  type PlanDocument,
  type PlanningClaim,
  type PlanningStore,
  type PlanRecord,
  type RequestDocument,
  type WorkerStore,
} from "@planwright/store";

import type { HeldRequests } from "../src/jobs/held-requests.ts";

type Failure = Parameters<PlanningStore["failPlanning"]>[1];
type ModelCall = Omit<ModelCallDocument, "_id" | "createdAt">;

/** A planning store in memory that counts what is stored, with the same fencing as the real one. */
export interface MemoryPlanningStore extends PlanningStore, Pick<WorkerStore, "liveWorkers"> {
  request: RequestDocument;
  plans: PlanDocument[];
  failures: Failure[];
  calls: ModelCall[];
  /** Gives the request to another planner. */
  steal(): void;
}

const EPOCH = new Date(0);

export function createMemoryPlanningStore(input: {
  query: string;
  tools: ToolDescriptor[];
  leftOut?: LeftOutTool[];
  autoExecute?: boolean;
  modelLimits?: ModelLimits;
  context?: GivenContext;
  policy?: PolicyInput;
  /** The result of the plan to replan; without it the request waits for its first plan. */
  record?: PlanRecord;
}): MemoryPlanningStore {
  const request = requestOf(input);
  if (input.record) request.planning.work = "replan";
  const plans: PlanDocument[] = [];
  const failures: Failure[] = [];
  const calls: ModelCall[] = [];
  const use = { spent: NO_SPENDING, calls: new Map<string, ModelSpending>() };

  const settle = (claim: PlanningClaim) => {
    const isHeld = request.status === "PLANNING" && request.lease?.epoch === claim.epoch;
    if (!isHeld) throw new LeaseLostError({ id: request._id, epoch: claim.epoch });
    Object.assign(request, { lease: null, dueAt: null });
  };

  return {
    request,
    plans,
    failures,
    calls,
    steal() {
      request.epoch += 1;
      request.lease = { owner: "thief", epoch: request.epoch };
    },
    async claimRequest(requestId, owner) {
      if (requestId !== request._id || !request.dueAt || request.lease) return null;
      request.epoch += 1;
      request.claims += 1;
      request.planning.claimsOfWork += 1;
      const { epoch } = request;
      request.lease = { owner, epoch };
      const isEarlier = ({ epoch: made = 0, isAnswerComplete }: ModelCall) =>
        isAnswerComplete === true && made > epoch - request.planning.claimsOfWork && made < epoch;
      const earlierCalls = calls.filter(isEarlier).toSorted((a, b) => (b.epoch ?? 0) - (a.epoch ?? 0));
      return { request: structuredClone(request), epoch, earlierCalls };
    },
    requestLeases: {
      async findHeld(owner) {
        const { lease } = request;
        return lease?.owner === owner ? [{ id: request._id, epoch: lease.epoch }] : [];
      },
      releaseUnheld: async () => [],
      recordSurvived: async () => undefined,
      findInTurns: async () => [],
    },
    async completePlanning(claim, result) {
      settle(claim);
      request.status = request.autoExecute ? "EXECUTING" : "READY";
      const plan = planOf(request, result);
      plans.push(plan);
      return plan;
    },
    async failPlanning(claim, failure) {
      settle(claim);
      request.status = "FAILED";
      request.error = failure.error;
      failures.push(failure);
    },
    async askQuestions(claim, { questions, draft }) {
      settle(claim);
      const questionsAsked = (request.questionsAsked ?? 0) + questions.length;
      Object.assign(request, { status: "NEEDS_INPUT", questions, questionsAsked, draft });
    },
    readPlanRecord: async () => input.record ?? null,
    async completeReplan(claim, result) {
      settle(claim);
      Object.assign(request, { status: "EXECUTING", version: request.version + 1 });
      const plan = planOf(request, result);
      plans.push(plan);
      return plan;
    },
    async failReplan(claim, { error, diagnostics }) {
      settle(claim);
      Object.assign(request, { status: "FAILED", error, diagnostics });
    },
    async completeAnswer(claim, answer) {
      settle(claim);
      request.answer = answer;
    },
    async failAnswer(claim, error) {
      settle(claim);
      request.answerError = error;
    },
    async postponePlanning(claim, { error, pauseMs, requestedMs, unreachableMs }) {
      if (unreachableMs === 0) return null;
      settle(claim);
      const tries = (request.planning.wait?.tries ?? 0) + 1;
      const nextAttemptAt = new Date(Math.max(pauseMs(tries), requestedMs));
      const wait = { error, since: EPOCH, tries, nextAttemptAt, until: new Date(unreachableMs) };
      request.planning.wait = wait;
      Object.assign(request, { dueAt: nextAttemptAt });
      return wait;
    },
    async recordModelCall(call) {
      calls.push(call);
    },
    async beginModelCall(claim, call) {
      if (request.lease?.epoch !== claim.epoch) {
        throw new LeaseLostError({ id: request._id, epoch: claim.epoch });
      }
      const exceeded = exceededLimit(request.modelLimits, modelUseOf(use), call.reserved);
      if (exceeded) return { type: "exceeded", ...exceeded };
      const callId = String(calls.length);
      use.calls.set(callId, call.reserved);
      request.modelUse = modelUseOf(use);
      calls.push({ ...OPEN, requestId: request._id, tenant: request.tenant, ...call, epoch: claim.epoch });
      return { type: "open", callId };
    },
    async endModelCall(callId, end) {
      const call = calls[Number(callId)];
      if (!call || call.endedAt !== null) return;
      use.calls.delete(callId);
      use.spent = sumOf([use.spent, end.spent]);
      request.modelUse = modelUseOf(use);
      Object.assign(call, end, { endedAt: EPOCH });
    },
    toolCatalogue: async () => input.tools,
    leftOutTools: async () => input.leftOut ?? [],
    liveWorkers: async () => ({ planner: 1, executor: 1, owners: new Set() }),
  };
}

/** The request of a store, held by a planner that never loses it. */
export function heldIn(store: Pick<PlanningStore, "claimRequest">): Pick<HeldRequests, "take"> {
  return {
    async take(requestId) {
      const claim = await store.claimRequest(requestId, "test");
      return claim && { claim, lost: new AbortController().signal, release: () => undefined };
    },
  };
}

/** A call that has not ended. */
const OPEN = {
  answer: "",
  finishReason: null,
  inputTokens: null,
  outputTokens: null,
  latencyMs: 0,
  costUsd: null,
  spent: null,
  error: null,
  endedAt: null,
};

function requestOf({
  query,
  autoExecute = false,
  modelLimits,
  context,
  policy,
}: Parameters<typeof createMemoryPlanningStore>[0]): RequestDocument {
  return newRequest({
    requestId: "req_1700000000_abcdefghij0123456789",
    planId: "plan_1700000000_abcdefghij0123456789",
    tenant: "default",
    source: "query",
    query,
    autoExecute,
    modelLimits,
    context,
    policy,
    now: EPOCH,
  });
}

function planOf(
  request: RequestDocument,
  result: Parameters<PlanningStore["completePlanning"]>[1],
): PlanDocument {
  return newPlan({ ...result, request, status: request.autoExecute ? "QUEUED" : "READY", now: EPOCH });
}
