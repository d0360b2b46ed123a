export {
  AddressForbiddenError,
  type AddressGuard,
  createAddressGuard,
  createGuardedFetch,
  type GuardedFetch,
  type OutboundAddresses,
  OutboundAddressesSchema,
} from "./address-guard.ts";
export {
  type CreateLoggerOptions,
  createLogger,
  type Logger,
  logFactsOfId,
} from "./create-logger.ts";
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
} from "./create-metrics.ts";
export { createShutdown, type Shutdown, type ShutdownOptions } from "./create-shutdown.ts";
export {
  createFailpoints,
  type FailpointAction,
  FailpointError,
  FailpointInvalidError,
  type FailpointNames,
  type Failpoints,
  heartbeatFailpoints,
  leaseFailpoints,
} from "./failpoints.ts";
export {
  createHealthHandler,
  createHealthServer,
  type FailingChecks,
  type HealthChecks,
  type HealthOptions,
  type HealthServer,
  type HealthServerOptions,
  runChecks,
} from "./health-server.ts";
export { createJobThreads, type JobThreads, ThreadEndedError } from "./job-threads.ts";
export type { Held, LeaseStore } from "./lease-keeper.ts";
export {
  createLeaseKeeper,
  createOutageLog,
  type LeaseKeeper,
  type LeaseKeeperParts,
} from "./lease-keeper.ts";
export { packageFile } from "./package-file.ts";
export {
  HostNameSchema,
  MongodbUrlSchema,
  parseRoleSettings,
  parseSettings,
  RedisUrlSchema,
  type RoleOptions,
  readOrExit,
  runSettingsCheck,
  SettingsError,
  settingsOrExit,
} from "./parse-settings.ts";
export {
  isSecretName,
  type RedactOptions,
  redact,
  redactInSteps,
  redactJson,
  redactText,
} from "./redact.ts";
export { type Role, type RoleParts, type RolesHost, type RolesOptions, runRoles } from "./run-roles.ts";
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
} from "./start-heartbeat.ts";
export { startTracing } from "./start-tracing.ts";
export {
  createWorkerService,
  WORKER_SETTINGS,
  type WorkerService,
  type WorkerServiceOptions,
  type WorkerSettings,
  type WorkParts,
} from "./start-worker-service.ts";
export { type Figures, registerSystemMetrics, type SystemMetricsParts } from "./system-metrics.ts";
export type { StartTracingOptions, Tracing } from "./traces.ts";
export {
  type Attributes,
  endSpan,
  REQUEST_ID_ATTRIBUTE,
  type Span,
  SpanKind,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "./traces.ts";
export { VERSION } from "./version.ts";
