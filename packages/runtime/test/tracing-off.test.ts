/** In a separate file, because a module stays loaded. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { startTracing } from "../src/index.ts";

/** Files of OpenTelemetry's SDK that this process has loaded. */
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("/sdk-trace"));

test("the SDK is loaded only when traces are configured", async () => {
  const options = { service: "tested", instance: "tested:1", logger: { warn: () => undefined } };
  await startTracing({ ...options, env: {} });
  expect(loaded()).toEqual([]);
  const tracing = await startTracing({ ...options, env: { OTEL_TRACES_EXPORTER: "otlp" } });
  expect(loaded()).not.toEqual([]);
  await tracing.stop();
});
