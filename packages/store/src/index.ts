export { createStore, type StoreOptions } from "./create-store.ts";
export { parseCursor, type RequestCursor, toCursor } from "./cursor.ts";
export type {
  ArgumentsPreview,
  AttemptDocument,
  FinishCommand,
  Lease,
  ModelCallDocument,
  OutputDocument,
  OutputRef,
  PlanApproval,
  PlanDocument,
  PlanOrigin,
  PlanWishes,
  RecordedError,
  RequestDocument,
  StepDocument,
  ToolDocument,
  UnitResolution,
} from "./documents.ts";
export {
  CursorInvalidError,
  IdempotencyKeyReusedError,
  LeaseLostError,
  OutputMissingError,
  ServerTooOldError,
  StandaloneServerError,
  StoreUnavailableError,
  WriteNotPossibleError,
} from "./errors.ts";
export { newPlan, newRequest, newStep } from "./new-documents.ts";
export type {
  AttemptEnd,
  ClientStore,
  ExecutionStore,
  Idempotency,
  Intent,
  Page,
  PlanClaim,
  PlanningClaim,
  PlanningStore,
  RerunAnswer,
  ResolutionWord,
  Store,
  UnitRecord,
} from "./store.ts";
export { isTransient } from "./transient-errors.ts";
