import { createLogger } from "@planwright/runtime";
import { createHeldRequests } from "../src/jobs/held-requests.ts";
import { createPlanRequest, type PlanningResult, type PlanRequestParts } from "../src/jobs/plan-request.ts";
import { createPlanningWork, type PlanningWorkParts } from "../src/jobs/planning-work.ts";
import type { MemoryPlanningStore } from "./memory-planning-store.ts";

/** Does the work that the request of a store waits for once, like a separate planner. */
export function planInProcess(
  store: MemoryPlanningStore,
  work: Omit<PlanningWorkParts, "store">,
  parts: Partial<Pick<PlanRequestParts, "offerExecution">> = {},
): Promise<PlanningResult> {
  const held = createHeldRequests({
    store,
    leases: store.requestLeases,
    liveness: { owner: () => "test", validUntil: () => Number.POSITIVE_INFINITY },
    maxRequests: 1,
    deadAfterMs: 66,
    logger: createLogger({ service: "test", level: "warn" }),
  });
  const planRequest = createPlanRequest({
    held,
    work: createPlanningWork({ store, ...work }),
    offerExecution: () => undefined,
    ...parts,
  });
  return planRequest(store.request._id, new AbortController().signal).finally(() => held.end());
}
