import { isJsonObject, REDACTED } from "@planwright/plan";
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from "pino";
import { redact } from "./redact.ts";

export type { Logger } from "pino";

const SECRET_BINDINGS = ["authorization", "password", "secret", "apiKey", "token", "cookie", "credentials"];

/** Options of {@link createLogger}. */
export interface CreateLoggerOptions {
  /** Name of the service, on every line. */
  service: string;
  /** Lowest level that is written; default "info". */
  level?: string;
  /** Readable lines for a terminal instead of JSON lines; default false. */
  pretty?: boolean;
  /** Where lines go; default: standard output. */
  destination?: DestinationStream;
}

/**
 * A pino logger: one JSON line for each entry, time as ISO text, errors under `err` with their causes. Values
 * of keys that name a secret (`password`, `authorization`, `apiKey`, `token`, ... at any depth), credentials
 * in addresses and bearer tokens are replaced by "[redacted]".
 */
export function createLogger(options: CreateLoggerOptions): Logger {
  const { service, level = "info", pretty = false, destination } = options;
  const settings: LoggerOptions = {
    level,
    base: { service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: {
      level: (label) => ({ level: label }),
      log: (facts) => withoutSecrets(facts),
    },
    // Bindings of child loggers do not pass through `formatters.log`.
    redact: { paths: SECRET_BINDINGS, censor: REDACTED },
    serializers: { err: serializeError, error: serializeError },
    ...(pretty &&
      !destination && { transport: { target: "pino-pretty" }, formatters: { log: withoutSecrets } }),
  };
  return destination ? pino(settings, destination) : pino(settings);
}

function withoutSecrets(facts: Record<string, unknown>): Record<string, unknown> {
  const copy = redact(facts);
  return isJsonObject(copy) ? copy : {};
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redact(error);
  const { raw: _raw, ...plain } = stdSerializers.err(error);
  return redact({ ...plain });
}

/**
 * Facts for a log line when only the id of the work is known: `requestId` or `planId`; none without an id.
 */
export function logFactsOfId(id: string | undefined): { requestId?: string; planId?: string } {
  if (id === undefined) return {};
  return id.startsWith("req_") ? { requestId: id } : { planId: id };
}
