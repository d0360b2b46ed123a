import type { Logger } from "../logging/create-logger.ts";
import type { Traces } from "./traces.ts";

/** Options of `startTracing`. */
export interface StartTracingOptions {
  /** Name of the service, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` gives another one. */
  service: string;
  /** Names the process: `service.instance.id` of its spans. */
  instance: string;
  /** Decides whether there are traces. OpenTelemetry reads its other variables from `process.env` itself. */
  env: Readonly<Record<string, string | undefined>>;
  logger: Pick<Logger, "warn">;
}

/** The traces of a process. */
export interface Tracing {
  /** Undefined while tracing is not configured; then nothing is loaded and no span is made. */
  readonly traces: Traces | undefined;
  /** Sends the remaining spans, for at most `timeoutMs` (default 2,000), and stops. Never rejects. */
  stop(timeoutMs?: number): Promise<void>;
}
