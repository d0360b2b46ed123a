export type { AccessStore, TenantStore } from "./access-store.ts";
export { type ApiKey, isApiKeyShaped, type NewApiKey, NewApiKeySchema } from "./access-store.ts";
export type { ClientStore, LiveStore, RetentionStore, Store } from "./create-store.ts";
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
} from "./execution/claims.ts";
export {
  createMongoEntryLog,
  type EntryLog,
  type EntryPosition,
  entryIdOf,
} from "./journal/entry-log.ts";
export type { AppendOutcome, JournalMetrics } from "./journal/journal.ts";
export {
  type AppendResult,
  createJournal,
  type Journal,
  type JournalOptions,
  MAX_ENTRY_BYTES,
  type NewEntry,
} from "./journal/journal.ts";
export { createUnitChanges, stepsOfJournals, type UnitChange } from "./journal/unit-changes.ts";
export {
  type Fleet,
  type FleetWorker,
  type LostWorker,
  MAX_DUE,
  MAX_FIGURE,
  type SystemFigures,
  type WaitingWork,
} from "./leases/fleet.ts";
export {
  type LiveWorkers,
  WORKER_DEAD_AFTER_MS,
  type WorkerStore,
} from "./leases/worker-store.ts";
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
export {
  exceededLimit,
  type LimitExceeded,
  modelUseOf,
  NO_SPENDING,
  NO_USE,
} from "./planning/planning-store.ts";
export type { ArgumentChange } from "./plans/carry-over.ts";
export { unfinishedLists } from "./plans/carry-over.ts";
export type { EarlierCall, Repeat, UnitToCall } from "./plans/earlier-calls.ts";
export { asksForVersions, type Fit, fitOf } from "./reads/list-requests.ts";
export type { RequestFilter, RequestNeed, RequestPage } from "./reads/reads.ts";
export type {
  DiagnosedUnits,
  ListPage,
  Page,
  StepFilter,
  StepPage,
} from "./reads/record-pages.ts";
export {
  eventCursor,
  modelCallCursor,
  parseCursor,
  planCursor,
  type RequestCursor,
  toCursor,
} from "./reads/record-pages.ts";
export { diagnosedUnits, isStepWanted, pageOfSteps, stepCursor } from "./reads/step-pages.ts";
export type { ChangedRequest, ChangedWanted, ChangeListener, ChangeWatch } from "./reads/watch-changes.ts";
export type { ModelCost, ModelCosts, Workload } from "./reads/workload.ts";
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
  EntryTooLargeError,
  IdempotencyKeyReusedError,
  LeaseLostError,
  OutputMissingError,
  RequestLagsError,
  ServerTooOldError,
  StandaloneServerError,
  StoreNotReachedError,
  StoreUnavailableError,
  TooManyControlsError,
  WriteNotPossibleError,
} from "./records/errors.ts";
export type {
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  ModelUse,
} from "./records/model-call-document.ts";
export { newPlan, newRequest } from "./records/new-documents.ts";
export type {
  FinishCommand,
  OutputDocument,
  OutputRef,
  PlanApproval,
  PlanDocument,
  PlanFollowUp,
  UnitResolution,
} from "./records/plan-document.ts";
export type {
  GivenAnswer,
  GivenContext,
  JournalDocument,
  KeptDraft,
  Lease,
  Leased,
  ModelWait,
  PlanningWork,
  PlanOrigin,
  ReplanOptions,
  RequestDocument,
  TraceOrigin,
  WorkerDocument,
  WorkerKind,
} from "./records/request-document.ts";
export { contextOf } from "./records/request-document.ts";
export {
  type Scope,
  ScopeSchema,
  type TenantChanges,
  TenantChangesSchema,
  type TenantLimits,
  TenantSchema,
} from "./records/tenant-document.ts";
export type {
  ContractAnswer,
  ContractAsk,
  ServerReload,
  ToolDocument,
  ToolServerDocument,
} from "./records/tool-documents.ts";
export type { Idempotency } from "./requests/acceptance.ts";
export type {
  AmendAnswer,
  AmendedPlan,
  ReplanAnswer,
  RerunAnswer,
  VersionOptions,
} from "./requests/create-change-store.ts";
export type { UnitDecision } from "./requests/create-control-store.ts";
export {
  type CountedCalls,
  hourOf,
  latencyBucket,
  type ToolCallStats,
  toolCallsSince,
} from "./tools/tool-call-stats.ts";
export type {
  AskedReload,
  LearnedOutput,
  NewContractAsk,
  ToolListing,
  ToolServerReport,
} from "./tools/tool-store.ts";
