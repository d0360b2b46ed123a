export { createStore, type StoreOptions } from "./create-store.ts";
export { parseCursor, type RequestCursor, toCursor } from "./cursor.ts";
export type {
  AttemptDocument,
  FinishCommand,
  Lease,
  ModelCallDocument,
  PlanDocument,
  PlanOrigin,
  RecordedError,
  RequestDocument,
  StepDocument,
  ToolDocument,
} from "./documents.ts";
export {
  CursorInvalidError,
  LeaseLostError,
  StandaloneServerError,
  StoreUnavailableError,
} from "./errors.ts";
export type {
  AttemptEnd,
  ClientStore,
  ExecutionStore,
  Intent,
  Page,
  PlanClaim,
  PlanningClaim,
  PlanningStore,
  Store,
} from "./store.ts";
