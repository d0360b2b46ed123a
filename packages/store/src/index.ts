export {
  type AccessStore,
  type ApiKey,
  isApiKeyShaped,
  type NewApiKey,
  NewApiKeySchema,
  type TenantStore,
} from "./access-store.ts";
export type { BackupFacts, RestoredRequest, RestoreFacts } from "./backup.ts";
export {
  backupDatabase,
  type ClientStore,
  createStore,
  inspectDatabase,
  inspectStorage,
  type LiveStore,
  type RetentionStore,
  restoreDatabase,
  type Store,
  type StoreOptions,
} from "./create-store.ts";
export { createMongoClient } from "./database/mongo-client.ts";
export { isTransient } from "./database/transient-errors.ts";
export type { PlanClaim } from "./execution/claims.ts";
export type {
  AttemptEnd,
  ExecutionStore,
  Intent,
  UnitRecord,
  UnitResults,
} from "./execution/create-execution-store.ts";
export { type EntryLog, entryIdOf } from "./journal/entry-log.ts";
export type { JournalMetrics } from "./journal/journal.ts";
export type { PlanUnits } from "./journal/unit-reads.ts";
export type { Fleet, FleetWorker, LostWorker, SystemFigures, WaitingWork } from "./leases/fleet.ts";
export { type LiveWorkers, WORKER_DEAD_AFTER_MS, type WorkerStore } from "./leases/worker-store.ts";
export type { ModelAway, PlanningStore, PlanRecord } from "./planning/create-planning-store.ts";
export {
  type ContractAskStore,
  exceededLimit,
  type ModelCallBegin,
  type ModelCallEnd,
  modelUseOf,
  NO_SPENDING,
  NO_USE,
} from "./planning/model-calls.ts";
export type { PlanningClaim } from "./planning/planner-claims.ts";
export { unfinishedLists } from "./plans/carry-over.ts";
export type { EarlierCall, Repeat } from "./plans/earlier-calls.ts";
export { countSteps } from "./plans/plan-end.ts";
export {
  asksForVersions,
  fitOf,
  type RequestFilter,
  type RequestNeed,
  type RequestPage,
} from "./reads/list-requests.ts";
export {
  eventCursor,
  type ListPage,
  modelCallCursor,
  type Page,
  planCursor,
  toCursor,
} from "./reads/record-pages.ts";
export {
  countUnits,
  type DiagnosedUnits,
  diagnosedUnits,
  diagnosedUnitsOf,
  isStepWanted,
  pageOfSteps,
  pageOfUnits,
  type StepFilter,
  type StepPage,
  stepCursor,
} from "./reads/step-pages.ts";
export {
  STORAGE_AGES,
  STORAGE_ENDS,
  STORAGE_GROUPS,
  type StorageFacts,
  type StorageShare,
} from "./reads/storage.ts";
export type { ChangedRequest, ChangeListener, ChangeWatch } from "./reads/watch-changes.ts";
export type { ModelCost, ModelCosts, Workload } from "./reads/workload.ts";
export type {
  EventHead,
  ModelCallHead,
  ModelCallTexts,
  PlanGraph,
  PlanHead,
  PlanResults,
  PlanTexts,
  RequestWithPlan,
} from "./records/document-heads.ts";
export {
  BackupFileError,
  CursorInvalidError,
  DatabaseFormatError,
  EntryTooLargeError,
  IdempotencyKeyReusedError,
  LeaseLostError,
  OutputMissingError,
  type RecordedError,
  RequestLagsError,
  StoreNotReachedError,
  StoreUnavailableError,
  TooManyControlsError,
} from "./records/errors.ts";
export type {
  EndedModelCall,
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
} from "./records/model-call-document.ts";
export { newPlan, newRequest } from "./records/new-documents.ts";
export type {
  FinishCommand,
  OutputRef,
  PlanApproval,
  PlanDocument,
  UnitResolution,
} from "./records/plan-document.ts";
export {
  contextOf,
  type GivenAnswer,
  type GivenContext,
  type JournalDocument,
  type Lease,
  type ModelWait,
  type PlanOrigin,
  type RequestDocument,
} from "./records/request-document.ts";
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
  SignInDocument,
  ToolDocument,
  ToolServerDocument,
} from "./records/tool-documents.ts";
export type { Idempotency, Place } from "./requests/acceptance.ts";
export type {
  AmendAnswer,
  AmendedPlan,
  ReplanAnswer,
  RerunAnswer,
  VersionOptions,
} from "./requests/change-request.ts";
export { RetentionDaysSchema } from "./requests/remove-ended.ts";
export type { ArgumentChange } from "./requests/rerun.ts";
export type { UnitDecision, UnitDecisions } from "./requests/resolve.ts";
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
  ShownSignIn,
  StoredSignIn,
  ToolListing,
  ToolServerReport,
} from "./tools/tool-store.ts";
