import { Counter } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { createHealthServer, createMetrics, type HealthServerOptions } from "../src/index.ts";

async function get(path: string, options: Omit<HealthServerOptions, "port"> = {}) {
  const server = await createHealthServer({ port: 0, ...options });
  onTestFinished(() => server.close());
  const response = await fetch(server.url + path);
  return { status: response.status, text: await response.text() };
}
const never = () => new Promise<never>(() => undefined);

test("/healthz is 200 while the process is alive, also with failing checks", async () => {
  expect(await get("/healthz", { checks: { mongodb: never } })).toMatchObject({ status: 200 });
});

test("/readyz is 200 when every check passes", async () => {
  expect(await get("/readyz", { checks: { mongodb: async () => undefined } })).toMatchObject({ status: 200 });
});

test("/readyz is 503 and names each check that fails or gives no answer in time", async () => {
  const { status, text } = await get("/readyz", {
    checkTimeoutMs: 20,
    checks: {
      mongodb: () => Promise.reject(new TypeError("no answer from mongodb://u:hidden@host")),
      redis: never,
      catalogue: async () => false,
      fine: async () => true,
    },
  });
  expect({ status, failing: JSON.parse(text).failing }).toEqual({
    status: 503,
    failing: {
      mongodb: "no answer from mongodb://[redacted]@host",
      redis: "gave no answer within 20 ms",
      catalogue: "is not ready",
    },
  });
});

test("a check that throws instead of rejecting is a failing check", async () => {
  const checks = {
    broken: () => {
      throw new TypeError("no client");
    },
  };
  expect(await get("/readyz", { checks })).toMatchObject({ status: 503 });
});

test("/readyz is 503 from the moment the service begins to stop", async () => {
  expect(await get("/readyz", { stopping: AbortSignal.abort() })).toMatchObject({ status: 503 });
});

test("/metrics serves the default metrics and the metrics of the service", async () => {
  const metrics = createMetrics("executor");
  new Counter({ name: "plans_total", help: "Plans", registers: [metrics] }).inc(3);
  const { text } = await get("/metrics", { metrics });
  expect(text).toContain('plans_total{service="executor"} 3');
  expect(text).toContain("process_resident_memory_bytes");
});

test("other paths are 404", async () => {
  expect(await get("/admin")).toMatchObject({ status: 404 });
});
