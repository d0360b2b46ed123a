import type { Drafter } from "@planwright/models";
import { type FailpointNames, heartbeatFailpoints, leaseFailpoints } from "@planwright/runtime";
import type { Store } from "@planwright/store";

/** Where reads and writes of the store and their acknowledgements begin and end. */
export const STORE_FAILPOINTS = {
  claimRequest: "planner.claim",
  ...heartbeatFailpoints("planner"),
  recordModelCall: "planner.record",
  beginModelCall: "planner.reserve",
  endModelCall: "planner.settle",
  completePlanning: "planner.store",
  failPlanning: "planner.fail",
  askQuestions: "planner.ask",
  readPlanRecord: "planner.read",
  completeReplan: "planner.replan",
  failReplan: "planner.fail-replan",
  completeAnswer: "planner.answer",
  failAnswer: "planner.unanswered",
  postponePlanning: "planner.postpone",
} as const satisfies FailpointNames<Store>;

/** Where reads and writes of the leases of requests begin and end. */
export const LEASE_FAILPOINTS = leaseFailpoints("planner");

/** Where a model call begins and ends. */
export const MODEL_FAILPOINTS = {
  draft: "planner.model",
  draftDirectly: "planner.direct",
  answer: "planner.write-answer",
} as const satisfies FailpointNames<Drafter>;

/** Where executors get a hint about a plan. */
export const OFFER_FAILPOINTS = { offerExecution: "planner.offer" } as const;
