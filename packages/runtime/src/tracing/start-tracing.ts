import type { StartTracingOptions, Tracing } from "./tracing.ts";
import { wantsTraces } from "./tracing-settings.ts";

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
