export type { AccessStore } from "./access/access-store.ts";
export { type ApiKey, isApiKeyShaped, type NewApiKey, NewApiKeySchema } from "./access/api-key.ts";
export { type Scope, ScopeSchema, TenantSchema } from "./access/scope.ts";
export type { ArgumentChange } from "./client/change-arguments.ts";
export { eventCursor } from "./client/event-pages.ts";
export { asksForVersions, type Fit, fitOf } from "./client/fit-of.ts";
export type {
  EventHead,
  HeadReads,
  ModelCallHead,
  ModelCallWords,
  PlanGraph,
  PlanHead,
  PlanResults,
  PlanTexts,
  RequestState,
  StateReads,
  StepAt,
  StepBody,
  StepHead,
  StepOutput,
  VersionFacts,
} from "./client/heads.ts";
export type { Page } from "./client/page.ts";
export type { ListPage, PagedReads, StepFilter, StepPage } from "./client/paged-reads.ts";
export { modelCallCursor, planCursor } from "./client/record-pages.ts";
export { isStepWanted, pageOfSteps, stepCursor } from "./client/step-pages.ts";
export { unfinishedLists } from "./client/unfinished-lists.ts";
export { createStore, type StoreOptions } from "./create-store.ts";
export { parseCursor, type RequestCursor, toCursor } from "./cursor.ts";
export type {
  ArgumentsPreview,
  AttemptDocument,
  FinishCommand,
  GivenAnswer,
  GivenContext,
  KeptDraft,
  Lease,
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  ModelUse,
  OutputDocument,
  OutputRef,
  PlanApproval,
  PlanDocument,
  PlanFollowUp,
  PlanningWork,
  PlanOrigin,
  RecordedError,
  ReplanWish,
  RequestDocument,
  StepDocument,
  ToolDocument,
  ToolServerDocument,
  TraceOrigin,
  UnansweredCall,
  UnitResolution,
  WorkerDocument,
  WorkerKind,
} from "./documents.ts";
export {
  CursorInvalidError,
  DatabaseFormatError,
  IdempotencyKeyReusedError,
  LeaseLostError,
  OutputMissingError,
  ServerTooOldError,
  StandaloneServerError,
  StoreUnavailableError,
  WriteNotPossibleError,
} from "./errors.ts";
export { type ClaimedJournal, type ClaimJournal, openClaimJournal } from "./execution/claim-journal.ts";
export {
  createMongoEntryLog,
  type EntryLog,
  type JournalDocument,
  type JournalPlace,
  placeOf,
} from "./journal/entry-log.ts";
export { EntryTooLargeError, OutboxStuckError, RequestLagsError } from "./journal/errors.ts";
export {
  type AppendResult,
  createJournal,
  type Journal,
  type JournalOptions,
  MAX_ENTRY_BYTES,
  type NewEntry,
} from "./journal/journal.ts";
export type { AppendOutcome, JournalMetrics } from "./journal/journal-metrics.ts";
export { newStep, newSteps } from "./journal/plan-units.ts";
export { createUnitChanges, stepsOfJournals, type UnitChange } from "./journal/unit-changes.ts";
export type { ChangedRequest, ChangedWanted } from "./live/read-changed.ts";
export type { ChangeListener, ChangeWatch } from "./live/watch-changes.ts";
export { newPlan, newRequest } from "./new-documents.ts";
export type { LearnedOutput } from "./observed-outputs.ts";
export {
  exceededLimit,
  type LimitExceeded,
  modelUseOf,
  NO_SPENDING,
  NO_USE,
} from "./planning/model-budget.ts";
export { contextOf } from "./request-context.ts";
export type {
  AmendAnswer,
  AmendedPlan,
  AttemptEnd,
  ClientStore,
  EndedModelCall,
  ExecutionStore,
  HeldPlan,
  Idempotency,
  Intent,
  LastRecords,
  LiveStore,
  ModelCallBegin,
  ModelCallEnd,
  PlanClaim,
  PlanningClaim,
  PlanningStore,
  PlanRecord,
  ReplanAnswer,
  RequestFilter,
  RequestNeed,
  RequestPage,
  RerunAnswer,
  ResolutionWord,
  RetentionStore,
  Store,
  UnitRecord,
  VersionWish,
} from "./store.ts";
export type { ToolServerWord } from "./tool-servers.ts";
export { isTransient } from "./transient-errors.ts";
export {
  type LiveWorkers,
  WORKER_DEAD_AFTER_MS,
  type WorkerStore,
} from "./workers/worker-store.ts";
