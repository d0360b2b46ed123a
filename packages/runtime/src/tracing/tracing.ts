import type { Logger } from "../logging/create-logger.ts";
import type { Traces } from "./traces.ts";

/** Where traces are configured, and who hears that they cannot be sent. */
export interface StartTracingOptions {
  /** Name of the service, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` gives another one. */
  service: string;
  /** Read for whether there are to be traces; the rest OpenTelemetry reads from `process.env` itself. */
  env: Readonly<Record<string, string | undefined>>;
  logger: Pick<Logger, "warn">;
}

/** The traces of a process. */
export interface Tracing {
  /** Undefined while tracing is not configured: nothing is loaded then, and nothing is to be made. */
  readonly traces: Traces | undefined;
  /** Sends what is left, for at most `timeoutMs` (default 2,000), and ends. Never rejects. */
  stop(timeoutMs?: number): Promise<void>;
}
