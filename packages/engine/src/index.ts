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
