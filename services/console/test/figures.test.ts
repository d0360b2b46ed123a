/**
 * Figures of tools and of the tenant's workload, and the trace of a request, in a real browser with the
 * complete system.
 */
import { createStore, type Store, toolCallsSince } from "@planwright/store";
import {
  type SpanReceiver,
  startSpanReceiver,
  startWholeSystem,
  type WholeSystem,
} from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleView, expectAccessible, expectInSight, openConsole, SCHEMES } from "./console-system.ts";

let system: WholeSystem & ConsoleView;
let store: Store;
let spans: SpanReceiver;
beforeAll(async () => {
  spans = await startSpanReceiver();
  // Tracing reads the environment of its process.
  const starting = startWholeSystem({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: spans.url },
    api: { TRACE_URL_TEMPLATE: "https://traces.test/trace/{traceId}" },
  });
  system = await openConsole(starting);
  store = await createStore({ url: system.mongodbUrl });
});
afterAll(async () => {
  await system?.close();
  await store?.close();
  await spans?.close();
});

const lately = async (tool: string, scheme?: "light" | "dark") =>
  (await system.open(`/tools/${tool}`, scheme))
    .getByRole("article", { name: `Tool ${tool}` })
    .getByRole("region", { name: "Lately" });

/** Two calls that succeed and one that fails. */
async function makeCalls(): Promise<string> {
  const steps = ["one", "two"].map((value) => ({ id: value, tool: "keyed_effect", arguments: { value } }));
  await system.expectStatus(await system.submit("Two payments", steps), "COMPLETED");
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no account" }] });
  const failed = await system.submit("A payment that fails", steps.slice(0, 1));
  await system.expectStatus(failed, "FAILED");
  return failed;
}

test("a tool shows when it was last seen, and the number, failures and latency of its calls", async () => {
  await makeCalls();
  // The executor writes its counts after some seconds.
  const counted = async () => (await store.toolCallStats("default", toolCallsSince(store.now())))[0]?.calls;
  await expect.poll(counted, { timeout: 60_000 }).toBe(3);
  const region = await lately("keyed_effect");
  await region.getByText("3 of yours in the last 24 hours").waitFor();
  await region.getByText("now, its server is connected").waitFor();
  await region.getByText("1 call, 33 %").waitFor();
  await region.getByText("TOOL_FAILED 1").waitFor();
  await region.getByText(/^p50 .* · p99 /).waitFor();
  const page = region.page();
  await page
    .getByRole("button", { name: /^keyed_effect/ })
    .getByText("1 failed")
    .waitFor();
  await expectInSight(page, "p50");
  await expectAccessible(page);
  await region.getByRole("link", { name: "failed requests that use it" }).click();
  await page.getByRole("link", { name: "A payment that fails" }).waitFor();
});

test("a tool that was not called shows no figures", async () => {
  const region = await lately("plain_effect");
  await region.getByText("none of yours in the last 24 hours").waitFor();
  expect(await region.getByText("latency").count()).toBe(0);
});

for (const { cases, options } of SCHEMES)
  test.each(cases)(
    "a tool whose server is not connected shows since when, in %s",
    options,
    async (scheme) => {
      const descriptor = { name: "pay", server: "bank", inputSchema: { type: "object" } };
      await store.publishTools("bank", [{ descriptor, digest: "bank" }]);
      await store.publishServer({
        server: "bank",
        state: "unreachable",
        tools: 1,
        leftOut: [
          {
            server: "bank",
            tool: "huge",
            reason: "its descriptor has 83412 bytes; at most 65536 are accepted",
          },
          { server: "bank", tool: null, reason: "its entry in the list is not an object" },
        ],
        leftOutCount: 3,
        error: "connection refused",
        stderrTail: null,
        since: new Date(Date.now() - 3_600_000 * 3),
        nextAttemptAt: null,
        executor: "e1",
      });
      const region = await lately("pay", scheme);
      await region.getByText("Its server bank is not connected").waitFor();
      await region.getByText("3 h ago").waitFor();
      const page = region.page();
      await page.getByRole("button", { name: /^pay/ }).getByText("gone").waitFor();
      const server = page.getByRole("article", { name: "Server bank" });
      await server.getByText("3 listed tools that plans cannot use").click();
      await server.getByText("huge: its descriptor has 83412 bytes").waitFor();
      await server.getByText("no name: its entry in the list is not an object").waitFor();
      await server.getByText("and 1 other").waitFor();
      await expectAccessible(page);
    },
  );

for (const { cases, options } of SCHEMES)
  test.each(cases)(
    "the first page shows how many requests ended, run and wait, in %s",
    options,
    async (scheme) => {
      await makeCalls();
      // There is no planner.
      await store.createRequest({ tenant: "default", query: "Plan a journey", autoExecute: true });
      const page = await system.open("/", scheme);
      const workload = page.getByRole("region", { name: "Workload" });
      await workload.getByText(/\d+ ended in the last hour/).waitFor();
      await workload.getByText(/\d+ running now/).waitFor();
      await workload.getByText(/[1-9]\d* waiting for a worker/).waitFor();
      await workload.getByRole("link", { name: /^the oldest for/ }).waitFor();
      await expectAccessible(page);
      await workload.getByRole("link", { name: /\d+ failed/ }).click();
      await page.waitForURL(/\?status=FAILED&status=PARTIAL$/);
    },
  );

test("a step shows the trace of its request as a link and to copy", async () => {
  const requestId = await makeCalls();
  const page = await system.open(`/r/${requestId}/s/one`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const inspector = page.getByRole("article", { name: "Step one" });
  const link = inspector.getByRole("link", { name: /^[0-9a-f]{32}$/ });
  const traceId = await link.innerText();
  expect(await link.getAttribute("href")).toBe(`https://traces.test/trace/${traceId}`);
  await inspector.getByRole("button", { name: "copy trace id" }).click();
  await inspector.getByRole("button", { name: "copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(traceId);
  await expectAccessible(page);
  await expect
    .poll(() => spans.spans().filter((span) => span.traceId === traceId).length, { timeout: 20_000 })
    .toBeGreaterThan(0);
});
