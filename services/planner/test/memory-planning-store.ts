import type { ToolDescriptor } from "@planwright/plan";
import {
  LeaseLostError,
  type ModelCallDocument,
  newPlan,
  newRequest,
  type PlanDocument,
  type PlanningClaim,
  type PlanningStore,
  type RequestDocument,
} from "@planwright/store";

type Failure = Parameters<PlanningStore["failPlanning"]>[1];
type ModelCall = Omit<ModelCallDocument, "_id" | "createdAt">;

/** A planning store in memory that counts what is stored, with the same fencing as the real one. */
export interface MemoryPlanningStore extends PlanningStore {
  request: RequestDocument;
  plans: PlanDocument[];
  failures: Failure[];
  calls: ModelCall[];
  /** Gives the request to somebody else. */
  steal(): void;
}

const EPOCH = new Date(0);

export function createMemoryPlanningStore(input: {
  query: string;
  tools: ToolDescriptor[];
  autoExecute?: boolean;
}): MemoryPlanningStore {
  const request = requestOf(input.query, input.autoExecute ?? false);
  const plans: PlanDocument[] = [];
  const failures: Failure[] = [];
  const calls: ModelCall[] = [];

  const settle = (claim: PlanningClaim) => {
    const isHeld = request.status === "PLANNING" && request.planning.lease?.epoch === claim.epoch;
    if (!isHeld) throw new LeaseLostError({ id: request._id, epoch: claim.epoch });
    request.planning.lease = null;
  };

  return {
    request,
    plans,
    failures,
    calls,
    steal() {
      request.planning.epoch += 1;
      request.planning.lease = { owner: "thief", epoch: request.planning.epoch, expiresAt: EPOCH };
    },
    async claimRequest(requestId, owner) {
      if (requestId !== request._id || request.status !== "PLANNING" || request.planning.lease) return null;
      request.planning.epoch += 1;
      request.planning.lease = { owner, epoch: request.planning.epoch, expiresAt: EPOCH };
      return { request: structuredClone(request), epoch: request.planning.epoch };
    },
    renewPlanning: async (claim) => request.planning.lease?.epoch === claim.epoch,
    findUnplanned: async () =>
      request.status === "PLANNING" && !request.planning.lease ? [request._id] : [],
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
    async askQuestions(claim, questions) {
      settle(claim);
      Object.assign(request, { status: "NEEDS_INPUT", questions });
    },
    async recordModelCall(call) {
      calls.push(call);
    },
    toolCatalogue: async () => input.tools,
  };
}

function requestOf(query: string, autoExecute: boolean): RequestDocument {
  return newRequest({
    requestId: "req_1700000000_abcdefghij0123456789",
    planId: "plan_1700000000_abcdefghij0123456789",
    tenant: "default",
    source: "query",
    query,
    autoExecute,
    now: EPOCH,
  });
}

function planOf(
  request: RequestDocument,
  result: Parameters<PlanningStore["completePlanning"]>[1],
): PlanDocument {
  return newPlan({ ...result, request, status: request.autoExecute ? "QUEUED" : "READY", now: EPOCH });
}
