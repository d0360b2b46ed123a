import { SettingsError } from "./parse-settings.ts";
import type { StartTracingOptions, Tracing } from "./traces.ts";

/**
 * Sends spans by OTLP over HTTP, in the background, when the standard variables ask for it. While the
 * receiver cannot be reached, spans are lost, with at most one warning a minute.
 * @throws {SettingsError} when the variables ask for something that is not supported
 */
export async function startTracing(options: StartTracingOptions): Promise<Tracing> {
  if (!wantsTraces(options.env)) return { traces: undefined, stop: async () => undefined };
  const { exportTraces } = await import("./export-traces.ts");
  return exportTraces(options);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * True when OpenTelemetry's own variables ask for traces: `OTEL_TRACES_EXPORTER=otlp`, or an OTLP endpoint
 * without a named exporter.
 * @throws {SettingsError} for an exporter or a protocol that is not supported
 */
function wantsTraces(env: Environment): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  const exporter = env["OTEL_TRACES_EXPORTER"];
  if (exporter === "none") return false;
  if (exporter && exporter !== "otlp") {
    throw new SettingsError([{ variable: "OTEL_TRACES_EXPORTER", problem: 'must be "otlp" or "none"' }]);
  }
  const isWanted = Boolean(
    exporter || env["OTEL_EXPORTER_OTLP_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
  );
  if (isWanted) checkProtocol(env);
  return isWanted;
}

/**
 * A collector that takes OTLP over HTTP takes JSON and Protobuf at the same address; gRPC has a separate
 * port.
 */
function checkProtocol(env: Environment): void {
  const own = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
  const variable = env[own] ? own : "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = env[variable];
  if (!protocol || protocol.startsWith("http/")) return;
  throw new SettingsError([
    { variable, problem: 'must be "http/json": spans are sent as JSON over HTTP, usually to port 4318' },
  ]);
}
