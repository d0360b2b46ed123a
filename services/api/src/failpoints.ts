import type { FailpointNames } from "@planwright/runtime";
import type { Store } from "@planwright/store";
import type { WorkOffers } from "./operation/context.ts";

/** Where writes and their acknowledgements begin and end. */
export const STORE_FAILPOINTS = {
  createRequest: "api.accept",
  submitPlan: "api.submit",
  queuePlan: "api.queue",
  requestCancel: "api.cancel",
} as const satisfies FailpointNames<Store>;

/** Where planners and executors are told of work. */
export const OFFER_FAILPOINTS = {
  offerPlanning: "api.offer-planning",
  offerExecution: "api.offer-execution",
} as const satisfies FailpointNames<WorkOffers>;
