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
export { createHealthHandler, type HealthOptions } from "./health/health-handler.ts";
export { createHealthServer, type HealthServer, type HealthServerOptions } from "./health/health-server.ts";
export { type FailingChecks, type HealthChecks, runChecks } from "./health/run-checks.ts";
export type { Held, LeaseStore } from "./leases/held.ts";
export {
  createLeaseKeeper,
  createOutageLog,
  type LeaseKeeper,
  type LeaseKeeperParts,
} from "./leases/lease-keeper.ts";
export { type CreateLoggerOptions, createLogger, type Logger } from "./logging/create-logger.ts";
export { logFactsOfId } from "./logging/id-facts.ts";
export { createBoundedLabel, OTHER } from "./metrics/bounded-label.ts";
export { createMeters, type Meters } from "./metrics/create-meters.ts";
export { Counter, createMetrics, Gauge, Histogram, type Registry } from "./metrics/create-metrics.ts";
export { createJournalMetrics, type JournalCounters } from "./metrics/journal-metrics.ts";
export { type Figures, registerSystemMetrics, type SystemMetricsParts } from "./metrics/system-metrics.ts";
export {
  AddressForbiddenError,
  type AddressGuard,
  createAddressGuard,
  type OutboundAddresses,
  OutboundAddressesSchema,
} from "./outbound/address-guard.ts";
export { createGuardedFetch, type GuardedFetch } from "./outbound/guarded-fetch.ts";
export { type RedactOptions, redact, redactInSteps, redactJson } from "./redaction/redact.ts";
export { isSecretName, redactText } from "./redaction/redact-text.ts";
export {
  startWorkerService,
  type WorkerService,
  type WorkerServiceOptions,
  type WorkParts,
} from "./service/start-worker-service.ts";
export { WORKER_SETTINGS, type WorkerSettings } from "./service/worker-settings.ts";
export { HostNameSchema, MongodbUrlSchema, RedisUrlSchema } from "./settings/addresses.ts";
export { parseSettings, readOrExit, SettingsError, settingsOrExit } from "./settings/parse-settings.ts";
export { runSettingsCheck } from "./settings/run-settings-check.ts";
export { createShutdown, type Shutdown, type ShutdownOptions } from "./shutdown/create-shutdown.ts";
export { startTracing } from "./tracing/start-tracing.ts";
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
export type { StartTracingOptions, Tracing } from "./tracing/tracing.ts";
export { createRunClock, type RunClock } from "./workers/run-clock.ts";
export {
  DeadAfterSchema,
  type Heartbeat,
  type HeartbeatOptions,
  type Liveness,
  startHeartbeat,
  workerName,
} from "./workers/start-heartbeat.ts";
export { workerAddressKey } from "./workers/worker-address-key.ts";
