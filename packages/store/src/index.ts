export type { AccessStore } from "./access-store.ts";
export { type ApiKey, isApiKeyShaped, type NewApiKey, NewApiKeySchema } from "./api-key.ts";
export { createStore, type StoreOptions } from "./create-store.ts";
export { isTransient } from "./database/transient-errors.ts";
export { type ClaimedJournal, type ClaimJournal, openClaimJournal } from "./execution/claim-journal.ts";
export type {
  AttemptEnd,
  ExecutionStore,
  Intent,
  LastRecords,
  PlanClaim,
  UnitRecord,
} from "./execution/execution-store.ts";
export {
  createMongoEntryLog,
  type EntryLog,
  type EntryPosition,
  entryIdOf,
} from "./journal/entry-log.ts";
export {
  EntryTooLargeError,
  RequestLagsError,
} from "./journal/errors.ts";
export {
  type AppendResult,
  createJournal,
  type Journal,
  type JournalOptions,
  MAX_ENTRY_BYTES,
  type NewEntry,
} from "./journal/journal.ts";
export type { AppendOutcome, JournalMetrics } from "./journal/journal-metrics.ts";
export { createUnitChanges, stepsOfJournals, type UnitChange } from "./journal/unit-changes.ts";
export { MAX_FIGURE, type SystemFigures } from "./leases/figures.ts";
export { type Fleet, type FleetWorker, type LostWorker, MAX_DUE, type WaitingWork } from "./leases/fleet.ts";
export {
  type LiveWorkers,
  WORKER_DEAD_AFTER_MS,
  type WorkerStore,
} from "./leases/worker-store.ts";
export {
  exceededLimit,
  type LimitExceeded,
  modelUseOf,
  NO_SPENDING,
  NO_USE,
} from "./planning/model-budget.ts";
export type { ContractAskStore } from "./planning/model-calls.ts";
export type {
  EndedModelCall,
  ModelAway,
  ModelCallBegin,
  ModelCallEnd,
  PlanningClaim,
  PlanningStore,
  PlanRecord,
} from "./planning/planning-store.ts";
export type { ArgumentChange } from "./plans/change-arguments.ts";
export type { EarlierCall, Repeat, UnitToCall } from "./plans/earlier-calls.ts";
export { unfinishedLists } from "./plans/unfinished-lists.ts";
export { parseCursor, type RequestCursor, toCursor } from "./reads/cursor.ts";
export { eventCursor } from "./reads/event-pages.ts";
export { asksForVersions, type Fit, fitOf } from "./reads/fit-of.ts";
export type { ModelCost, ModelCosts } from "./reads/model-costs.ts";
export type {
  DiagnosedUnits,
  ListPage,
  Page,
  StepFilter,
  StepPage,
} from "./reads/paged-reads.ts";
export type { ChangedRequest, ChangedWanted } from "./reads/read-changed.ts";
export type { RequestFilter, RequestNeed, RequestPage } from "./reads/read-store.ts";
export { modelCallCursor, planCursor } from "./reads/record-pages.ts";
export { diagnosedUnits, isStepWanted, pageOfSteps, stepCursor } from "./reads/step-pages.ts";
export type { ChangeListener, ChangeWatch } from "./reads/watch-changes.ts";
export type { Workload } from "./reads/workload.ts";
export type {
  EventHead,
  ModelCallHead,
  ModelCallTexts,
  PlanGraph,
  PlanHead,
  PlanResults,
  PlanTexts,
  RequestState,
  VersionFacts,
} from "./records/document-heads.ts";
export type { RecordedError } from "./records/errors.ts";
export {
  CursorInvalidError,
  DatabaseFormatError,
  IdempotencyKeyReusedError,
  LeaseLostError,
  OutputMissingError,
  ServerTooOldError,
  StandaloneServerError,
  StoreNotReachedError,
  StoreUnavailableError,
  TooManyControlsError,
  WriteNotPossibleError,
} from "./records/errors.ts";
export type { JournalDocument } from "./records/journal-documents.ts";
export type { Lease, Leased } from "./records/leased.ts";
export type {
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  ModelUse,
} from "./records/model-call-document.ts";
export { newPlan, newRequest } from "./records/new-documents.ts";
export type { OutputDocument, OutputRef } from "./records/output-document.ts";
export type {
  FinishCommand,
  PlanApproval,
  PlanDocument,
  PlanFollowUp,
  UnitResolution,
} from "./records/plan-document.ts";
export type { PlanOrigin } from "./records/plan-origin.ts";
export { contextOf } from "./records/request-context.ts";
export type {
  GivenAnswer,
  GivenContext,
  KeptDraft,
  ModelWait,
  PlanningWork,
  ReplanOptions,
  RequestDocument,
  TraceOrigin,
} from "./records/request-document.ts";
export { type Scope, ScopeSchema, TenantSchema } from "./records/scope.ts";
export { type TenantChanges, TenantChangesSchema, type TenantLimits } from "./records/tenant-document.ts";
export type {
  ContractAnswer,
  ContractAsk,
  ServerReload,
  ToolDocument,
  ToolServerDocument,
} from "./records/tool-documents.ts";
export type { WorkerDocument, WorkerKind } from "./records/worker-document.ts";
export type { Idempotency } from "./requests/acceptance-store.ts";
export type {
  AmendAnswer,
  AmendedPlan,
  ReplanAnswer,
  RerunAnswer,
  VersionOptions,
} from "./requests/change-store.ts";
export type { UnitDecision } from "./requests/control-store.ts";
export type { ClientStore, LiveStore, RetentionStore, Store } from "./store.ts";
export type { TenantStore } from "./tenant-store.ts";
export { latencyBucket } from "./tools/latency-histogram.ts";
export { type CountedCalls, hourOf, type ToolCallStats, toolCallsSince } from "./tools/tool-call-stats.ts";
export type {
  AskedReload,
  LearnedOutput,
  NewContractAsk,
  ToolListing,
  ToolServerReport,
} from "./tools/tool-store.ts";
