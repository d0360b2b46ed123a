import type { JsonValue, PlanId, RequestId } from "@planwright/plan";
import type {
  ClientStore,
  ModelCallDocument,
  OutputRef,
  PlanDocument,
  RequestDocument,
  StepDocument,
} from "@planwright/store";
import DataLoader from "dataloader";
import type { RequestSnapshot } from "../live/request-feed.ts";
import { createPageReads, type PageReads } from "./page-reads.ts";

/** Reads of one GraphQL operation: each document once, those of many requests or plans in one read. */
export interface Reads extends Omit<PageReads, "primeSteps" | "forgetPages"> {
  request(requestId: RequestId): Promise<RequestDocument | null>;
  plan(planId: PlanId): Promise<PlanDocument | null>;
  /** All versions, newest first. */
  plansOf(request: RequestDocument): Promise<PlanDocument[]>;
  /** The large outputs stand aside of them: see `output`. */
  steps(planId: PlanId): Promise<StepDocument[]>;
  /** The same, each with its output, however large. */
  wholeSteps(planId: PlanId): Promise<StepDocument[]>;
  /** What a step keeps of its tool's result, wherever it stands; null until it is COMPLETED. */
  output(step: StepDocument): Promise<JsonValue>;
  modelCalls(requestId: RequestId): Promise<ModelCallDocument[]>;
  /** Remembers requests that were read already. */
  prime(requests: readonly RequestDocument[]): void;
  /** Remembers a request with its plan and steps. */
  primeSnapshot(snapshot: RequestSnapshot): void;
  /** Forgets everything: a mutation is about to change it. */
  forget(): void;
}

/** Fresh reads for one operation. */
export function createReads(store: ClientStore, tenant: string): Reads {
  const { primeSteps, forgetPages, ...pageReads } = createPageReads(store, tenant);
  const requests = new DataLoader<RequestId, RequestDocument | null>((ids) => store.getRequests(tenant, ids));
  const plans = new DataLoader<PlanId, PlanDocument | null>((ids) => store.getPlans(tenant, ids));
  const versions = new DataLoader<RequestId, PlanDocument[]>(async (ids) =>
    listsById(ids, await store.listPlansOf(tenant, ids), ({ requestId }) => requestId),
  );
  const modelCalls = new DataLoader<RequestId, ModelCallDocument[]>(async (ids) =>
    listsById(ids, await store.listModelCallsOf(tenant, ids), ({ requestId }) => requestId),
  );
  const steps = new DataLoader<PlanId, StepDocument[]>(async (ids) =>
    listsById(ids, await store.listSteps(tenant, ids), ({ planId }) => planId),
  );
  const outputs = new DataLoader<OutputRef, JsonValue, string>(
    async (refs) => {
      const found = await store.readOutputs(tenant, refs);
      return refs.map(({ id }) => found.get(id) ?? null);
    },
    { cacheKeyFn: ({ id }) => id },
  );
  async function output({ status, output: own, outputRef }: StepDocument): Promise<JsonValue> {
    if (status !== "COMPLETED") return null;
    return outputRef ? outputs.load(outputRef) : own;
  }
  return {
    ...pageReads,
    output,
    async wholeSteps(planId) {
      const found = await steps.load(planId);
      return Promise.all(found.map(async (step) => ({ ...step, output: await output(step) })));
    },
    request: (requestId) => requests.load(requestId),
    plan: (planId) => plans.load(planId),
    async plansOf(request) {
      if (request.version > 1) return versions.load(request._id);
      const only = await plans.load(request.planId);
      return only ? [only] : [];
    },
    steps: (planId) => steps.load(planId),
    modelCalls: (requestId) => modelCalls.load(requestId),
    prime(found) {
      for (const request of found) requests.prime(request._id, request);
    },
    primeSnapshot({ request, plan, steps: units }) {
      requests.prime(request._id, request);
      plans.prime(request.planId, plan);
      steps.prime(request.planId, units);
      primeSteps(request.planId, units);
    },
    forget() {
      forgetPages();
      outputs.clearAll();
      for (const loader of [requests, plans, versions, modelCalls, steps]) loader.clearAll();
    },
  };
}

/** What belongs to each id, in the order of the ids; the order inside stays. */
function listsById<Id, T>(ids: readonly Id[], found: readonly T[], idOf: (one: T) => Id): T[][] {
  const lists = new Map<Id, T[]>(ids.map((id) => [id, []]));
  for (const one of found) lists.get(idOf(one))?.push(one);
  return ids.map((id) => lists.get(id) ?? []);
}
