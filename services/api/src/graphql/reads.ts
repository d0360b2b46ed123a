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

/** Reads of one GraphQL operation: each document once, lists of them in one read. */
export interface Reads {
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
  /** Forgets everything: a mutation is about to change it. */
  forget(): void;
}

/** Fresh reads for one operation. */
export function createReads(store: ClientStore, tenant: string): Reads {
  const requests = new DataLoader<RequestId, RequestDocument | null>((ids) =>
    Promise.all(ids.map((id) => store.getRequest(tenant, id))),
  );
  const plans = new DataLoader<PlanId, PlanDocument | null>((ids) => store.getPlans(tenant, ids));
  const versions = new DataLoader<RequestId, PlanDocument[]>((ids) =>
    Promise.all(ids.map((id) => store.listPlans(tenant, id))),
  );
  const modelCalls = new DataLoader<RequestId, ModelCallDocument[]>((ids) =>
    Promise.all(ids.map((id) => store.listModelCalls(tenant, id))),
  );
  const steps = new DataLoader<PlanId, StepDocument[]>(async (ids) => {
    const found = new Map<PlanId, StepDocument[]>(ids.map((id) => [id, []]));
    for (const step of await store.listSteps(tenant, ids)) found.get(step.planId)?.push(step);
    return ids.map((id) => found.get(id) ?? []);
  });
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
    forget() {
      outputs.clearAll();
      for (const loader of [requests, plans, versions, modelCalls, steps]) loader.clearAll();
    },
  };
}
