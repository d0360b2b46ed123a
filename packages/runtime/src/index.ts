export {
  createFailpoints,
  type FailpointAction,
  FailpointError,
  FailpointInvalidError,
  type FailpointNames,
  type Failpoints,
  heartbeatFailpoints,
  leaseFailpoints,
} from "./failpoints/failpoints.ts";
export {
  createHealthHandler,
  createHealthServer,
  type FailingChecks,
  type HealthChecks,
  type HealthOptions,
  type HealthServer,
  type HealthServerOptions,
  runChecks,
} from "./health/health-server.ts";
export type { Held, LeaseStore } from "./leases/lease-keeper.ts";
export {
  createLeaseKeeper,
  createOutageLog,
  type LeaseKeeper,
  type LeaseKeeperParts,
} from "./leases/lease-keeper.ts";
export {
  type CreateLoggerOptions,
  createLogger,
  type Logger,
  logFactsOfId,
} from "./logging/create-logger.ts";
export {
  Counter,
  createBoundedLabel,
  createJournalMetrics,
  createMeters,
  createMetrics,
  Gauge,
  Histogram,
  type JournalCounters,
  type Meters,
  OTHER,
  type Registry,
} from "./metrics/create-metrics.ts";
export { type Figures, registerSystemMetrics, type SystemMetricsParts } from "./metrics/system-metrics.ts";
export {
  AddressForbiddenError,
  type AddressGuard,
  createAddressGuard,
  createGuardedFetch,
  type GuardedFetch,
  type OutboundAddresses,
  OutboundAddressesSchema,
} from "./outbound/address-guard.ts";
export {
  isSecretName,
  type RedactOptions,
  redact,
  redactInSteps,
  redactJson,
  redactText,
} from "./redaction/redact.ts";
export {
  createJobThreads,
  type JobAnswer,
  type JobThreads,
  ThreadEndedError,
} from "./service/job-threads.ts";
export { type Role, type RoleParts, type RolesOptions, runRoles } from "./service/run-roles.ts";
export {
  createWorkerService,
  WORKER_SETTINGS,
  type WorkerService,
  type WorkerServiceOptions,
  type WorkerSettings,
  type WorkParts,
} from "./service/start-worker-service.ts";
export {
  HostNameSchema,
  MongodbUrlSchema,
  parseSettings,
  RedisUrlSchema,
  readOrExit,
  runSettingsCheck,
  SettingsError,
  settingsOrExit,
} from "./settings/parse-settings.ts";
export { createShutdown, type Shutdown, type ShutdownOptions } from "./shutdown/create-shutdown.ts";
export { startTracing } from "./tracing/start-tracing.ts";
export type { StartTracingOptions, Tracing } from "./tracing/traces.ts";
export {
  type Attributes,
  endSpan,
  REQUEST_ID_ATTRIBUTE,
  type Span,
  SpanKind,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "./tracing/traces.ts";
export {
  createRunClock,
  DeadAfterSchema,
  type Heartbeat,
  type HeartbeatOptions,
  type Liveness,
  type RunClock,
  startHeartbeat,
  workerAddressKey,
  workerName,
} from "./workers/start-heartbeat.ts";
