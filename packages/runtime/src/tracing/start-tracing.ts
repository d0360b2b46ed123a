import type { StartTracingOptions, Tracing } from "./tracing.ts";
import { wantsTraces } from "./tracing-settings.ts";

/**
 * Sends spans by OTLP over HTTP, in the background, when the standard variables ask for it. A receiver that is away costs the spans that
 * it misses, and a warning at most once a minute.
 * @throws {SettingsError} when they ask for what there is not
 */
export async function startTracing(options: StartTracingOptions): Promise<Tracing> {
  if (!wantsTraces(options.env)) return { traces: undefined, stop: async () => undefined };
  const { exportTraces } = await import("./export-traces.ts");
  return exportTraces(options);
}
