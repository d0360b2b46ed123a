export { decide } from "./decide.ts";
export { PlanCycleError, PlanInvalidError } from "./errors.ts";
export {
  type Call,
  type Command,
  type EngineEvent,
  type FinalPlanStatus,
  type Outcome,
  type Resolution,
  STEP_ERROR_CODES,
  type StepError,
  type StepErrorCode,
  type StepRecord,
} from "./protocol.ts";
export { createEngineState, type EngineInput } from "./state/create-engine-state.ts";
export type { EngineState } from "./state/engine-state.ts";
export { type UnitView, unitViews, waitReasonOf } from "./views.ts";
