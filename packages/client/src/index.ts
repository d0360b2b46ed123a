export type { ResultOf, VariablesOf } from "gql.tada";
export { type Client, createClient, type PlanInput, type SubmitOptions } from "./client.ts";
export { commandLine } from "./command-line.ts";
export { type DefinePlan, planDefiner, type ToolTypes } from "./define-plan.ts";
export {
  ApiRefusedError,
  ApiUnreachableError,
  type Explanation,
  explainError,
  NotTheApiError,
  type Refusal,
} from "./errors.ts";
export { type FollowOptions, isTemporary } from "./follow.ts";
export {
  ATTEMPT_RUN,
  awaitsAnswer,
  BUNDLE_FORMAT,
  BUNDLED_REQUEST,
  BUNDLED_STEP,
  carriedOver,
  type DebugBundle,
  DIAGNOSTIC,
  type Diagnosis,
  EFFECT_CLASSES,
  ENDED,
  effectClassOfStep,
  type FullRequest,
  hasEnded,
  isAtRest,
  JOURNAL_EVENT,
  MODEL_CALL,
  NEVER_RAN,
  type Need,
  needOf,
  type PendingControl,
  PLAN_RUN,
  type PlanRun,
  pendingControl,
  pendingText,
  READ_RUN,
  REQUEST_DIAGNOSIS,
  REQUEST_RUN,
  type RequestRun,
  RUN,
  type RunDiagnostic,
  requestLook,
  STEP_RUN,
  STEP_VALUES,
  type StepRun,
  type StepValues,
  settlementText,
  stepTree,
  type TreeRow,
  type TreeStep,
  unsentText,
  unsentTries,
} from "./run.ts";
export { type Given, graphql, type Operation } from "./schema/graphql.ts";
export type { Introspection } from "./schema/introspection.ts";
export { type SendAgainOptions, sendAgain } from "./send-again.ts";
export type { CallOptions, TransportOptions as ClientOptions } from "./transport.ts";
