export { questionAbout, withAnswer } from "./decide/attempt-ended.ts";
export { createEngineState, type EngineInput } from "./decide/create-engine-state.ts";
export { decide } from "./decide/decide.ts";
export { type FailedUnit, remedyWhile, type StepAdvice, stepAdvice } from "./decide/step-advice.ts";
export { heldBytesOf, type UnitView, unitViews, waitReasonOf } from "./decide/views.ts";
export {
  type ControlEvent,
  type EventOf,
  type JournalEntry,
  JournalEntrySchema,
  type JournalEvent,
  JournalEventSchema,
} from "./journal/events.ts";
export { advance, emptyRequest, fold, isPlanningEvent, type PlanningEvent, sumOf } from "./journal/fold.ts";
export { executorLost, resentCallWarning } from "./journal/fold-units.ts";
export {
  type FoldedAttempt,
  type FoldedError,
  type FoldedPlan,
  type FoldedPlanning,
  type FoldedRequest,
  type FoldedSpending,
  type FoldedUnit,
  type FoldedWait,
  JournalInvalidError,
  type StepRun,
} from "./journal/folded.ts";
export {
  outlineOf,
  type PlacedUnit,
  type PlanOutline,
  type PlanState,
  recordOf,
  recordsOf,
  stepRunAt,
  stepRuns,
  toStepRun,
  unitsInOrder,
} from "./journal/step-runs.ts";
export {
  deadlineOf,
  type TimeUse,
  timeUse,
  timeUseText,
  unitTime,
  type WaitedFor,
  waitedForPeopleMs,
} from "./journal/time-use.ts";
export {
  type EndedAttempt,
  type OutputLocation,
  type RunTurn,
  type StartedAttempt,
  type TurnRecord,
  toEventError,
  turnEvents,
} from "./journal/turn-events.ts";
export { type Clock, createSystemClock, createVirtualClock, type VirtualClock } from "./runner/clock.ts";
export {
  executeOrderedToolCalls,
  type OrderedCallResult,
  type OrderedCallsOptions,
  type RunnableCall,
  type RunnableTool,
} from "./runner/execute-ordered-tool-calls.ts";
export {
  EXECUTE_TOOL_PLAN,
  type ExecuteToolPlanTool,
  executeToolPlan,
  readToolPlan,
  type ToolPlanResult,
} from "./runner/execute-tool-plan.ts";
export type { CallTool } from "./runner/make-call.ts";
export {
  PlanInvalidError,
  type RunEvent,
  type RunPlanOptions,
  type RunResult,
  runPlan,
  type StepResult,
} from "./runner/run-plan.ts";
export { isUnansweredLookup, isUnreachable, retryDelay } from "./schedule/after-failure.ts";
export { callOfUnits, type ResolvedCall, resolveUnresolved } from "./schedule/prepare.ts";
export { answerQuestion } from "./schedule/questions.ts";
export { fromSent, type Sent, toSent, withStored } from "./state/arguments.ts";
export {
  EFFECTS,
  type Effect,
  type EffectFacts,
  effectOfCall,
  effectOfUnit,
  hasDoneEffect,
  hasFailedActing,
  needsAcceptance,
  openEffect,
} from "./state/effect.ts";
export type { EngineState } from "./state/engine-state.ts";
export {
  type Answer,
  BEGINNING_CHARS,
  type Call,
  type CallToApprove,
  type CarriedUnit,
  type Command,
  type EngineEvent,
  MAX_END_BYTES,
  MAX_LIST_BYTES,
  type Outcome,
  type Question,
  type Resolution,
  STEP_ERROR_CODES,
  type StepError,
  type StepErrorCode,
  type StepRecord,
  type StoredOutput,
  type ToApprove,
  type Unreachable,
  type UnresolvedArguments,
} from "./state/protocol.ts";
export { isSkippedByCondition, itemKey, positionsInResults, unitKeysOf } from "./state/units.ts";
