import type { FailpointNames } from "@planwright/runtime";
import type { Store } from "@planwright/store";
import type { WorkOffers } from "./operation/context.ts";

/** Failpoints before and after writes to MongoDB. */
export const STORE_FAILPOINTS = {
  createRequest: "api.accept",
  submitPlan: "api.submit",
  queuePlan: "api.queue",
  requestCancel: "api.cancel",
} as const satisfies FailpointNames<Store>;

/** Failpoints around hints to planners and executors. */
export const OFFER_FAILPOINTS = {
  offerPlanning: "api.offer-planning",
  offerExecution: "api.offer-execution",
} as const satisfies FailpointNames<WorkOffers>;
