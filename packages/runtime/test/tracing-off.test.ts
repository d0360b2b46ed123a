/** In a separate process, because a module stays loaded. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PROGRAM = `
  import { createRequire } from "node:module";
  import { startTracing } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
  /** Files of OpenTelemetry's SDK that this process has loaded. */
  const loaded = () =>
    Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("/sdk-trace")).length;
  const options = { service: "tested", instance: "tested:1", logger: { warn: () => undefined } };
  await startTracing({ ...options, env: {} });
  const off = loaded();
  const tracing = await startTracing({ ...options, env: { OTEL_TRACES_EXPORTER: "otlp" } });
  console.log(JSON.stringify({ off, on: loaded() }));
  await tracing.stop();
`;

test("the SDK is loaded only when traces are configured", async () => {
  const args = ["--import", "tsx", "-C", "@planwright/source", "--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  const { off, on } = JSON.parse(stdout);
  expect(off).toBe(0);
  expect(on).toBeGreaterThan(0);
});
