export type { ResultOf, VariablesOf } from "gql.tada";
export { type Client, createClient } from "./client.ts";
export { commandLine } from "./command-line.ts";
export { ApiRefusedError, ApiUnreachableError, NotTheApiError, type Refusal } from "./errors.ts";
export { type Explanation, explainError } from "./explain-error.ts";
export { type FollowOptions, isTemporary } from "./follow/follow-request.ts";
export type { CallOptions, TransportOptions as ClientOptions } from "./http/transport.ts";
export {
  awaitsAnswer,
  ENDED,
  hasEnded,
  isAtRest,
  type Need,
  needOf,
  requestLook,
  stepsInDoubt,
  stepsToApprove,
} from "./request/need.ts";
export { type PendingControl, pendingControl, pendingText } from "./request/pending-control.ts";
export {
  ATTEMPT_RUN,
  DIAGNOSTIC,
  type Diagnosis,
  PLAN_RUN,
  type PlanRun,
  READ_RUN,
  REQUEST_DIAGNOSIS,
  REQUEST_RUN,
  type RequestRun,
  RUN,
  type RunDiagnostic,
  STEP_RUN,
  STEP_VALUES,
  type StepRun,
  type StepValues,
  settlementText,
  unsentText,
} from "./request/run.ts";
export { stepTree, type TreeRow, type TreeStep } from "./request/step-tree.ts";
export { type Given, graphql, type Operation } from "./schema/graphql.ts";
export type { Introspection } from "./schema/introspection.ts";
export { type SendAgainOptions, sendAgain } from "./send-again.ts";
