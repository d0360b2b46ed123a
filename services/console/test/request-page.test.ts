/**
 * The page of one request in a real browser with the complete system: versions, moments, graph, timeline,
 * inspector.
 */
import { createClient, graphql } from "@planwright/client";
import { startTcpProxy } from "@planwright/testing";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";

const RERUN = graphql(`
  mutation ($requestId: ID!, $fromVersion: Int!) {
    rerun(requestId: $requestId, fromVersion: $fromVersion) { requestId }
  }
`);

const CANCEL = graphql(`mutation ($requestId: ID!) { cancel(requestId: $requestId) { requestId } }`);

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

const rerun = (requestId: string, fromVersion: number) =>
  createClient({ url: system.apiUrl }).execute(RERUN, { requestId, fromVersion });

test("a version that is made while the page is open is listed without a reload", async () => {
  system.tools.script({
    keyed_effect: [1, 2, 3].map(() => ({ type: "tool-error" as const, message: "no" })),
  });
  const requestId = await system.submit("Pay until it works", [
    { id: "pay", tool: "keyed_effect", arguments: { value: 1 } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  await rerun(requestId, 1);
  await system.expectStatus(requestId, "FAILED", 2);
  const page = await system.open(`/r/${requestId}`);
  const options = page.getByLabel("version").locator("option");
  await expect.poll(() => options.allTextContents()).toEqual(["2 failed", "1 failed"]);
  await rerun(requestId, 2);
  await expect.poll(() => options.allTextContents()).toEqual(["3 failed", "2 failed", "1 failed"]);
});

test("a slider shows every view as it was at an entry of the journal, and returns to now", async () => {
  const requestId = await system.submit("Two reads in a row", [
    { id: "first", tool: "keyed_effect", arguments: { value: "one" } },
    { id: "second", tool: "keyed_effect", arguments: { value: "<<first>>" } },
  ]);
  await system.expectStatus(requestId, "COMPLETED");
  const page = await system.open(`/r/${requestId}/s/second?view=steps`);
  const second = page.getByRole("row").filter({ hasText: "second" });
  const inspector = page.getByRole("article", { name: "Step second" });
  await inspector.getByText("output").waitFor();
  const slider = page.getByRole("slider", { name: "Entry of the journal" });
  await slider.focus();
  await page.keyboard.press("Home");
  await page.waitForURL(/at=0$/);
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/at=1$/);
  await second.getByText("pending").waitFor();
  expect(await slider.getAttribute("aria-valuetext")).toMatch(/^entry 1 of \d+, 20\d\d-\d\d-\d\d .* UTC$/);
  expect(await inspector.getByText("output").count()).toBe(0);
  await expectAccessible(page);
  await page.reload();
  await second.getByText("pending").waitFor();
  await page.getByRole("button", { name: "graph", exact: true }).click();
  await page
    .locator(".step-box")
    .filter({ hasText: "second" })
    .locator(".step-box-mark", { hasText: "○" })
    .waitFor();
  await page.getByRole("button", { name: "timeline", exact: true }).click();
  await page.getByRole("button", { name: "journal", exact: true }).click();
  await page.locator("tr.is-later").first().waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Back to live" }).click();
  await page.waitForURL((url) => !url.search.includes("at="));
  await page.getByRole("button", { name: "steps", exact: true }).click();
  await second.getByText("completed").waitFor();
  await page.keyboard.press("[");
  await page.waitForURL(/at=\d+/);
  await page.keyboard.press("l");
  await page.waitForURL((url) => !url.search.includes("at="));
});

test("the timeline describes its bars in words, and its zoom works by keyboard", async () => {
  system.tools.script({
    keyed_effect: [
      { type: "latency", ms: 200 },
      { type: "status", status: 503 },
    ],
  });
  const requestId = await system.submit("A call, a retry, an approval", [
    { id: "call", tool: "keyed_effect", arguments: { value: 1 } },
    { id: "again", tool: "keyed_effect", arguments: { value: "<<call>>" } },
    { id: "ask", tool: "plain_effect", arguments: { value: "<<again>>" }, approval: true },
  ]);
  await system.expectStatus(requestId, "EXECUTING");
  const page = await system.open(`/r/${requestId}?view=timeline`, "dark");
  const again = page.getByRole("button", {
    name: /^critical path: again waited: dependency, .*attempt 1: unknown .*backoff, .*attempt 2: completed/,
  });
  await again.waitFor();
  await page.getByRole("button", { name: /ask .*waited: approval/ }).waitFor();
  await page.locator("main .pill", { hasText: "waits for an approval" }).first().waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Zoom in" }).press("Enter");
  await expect.poll(() => page.getByRole("button", { name: "Whole time" }).isDisabled()).toBe(false);
  await page.getByRole("button", { name: "Whole time" }).press("Enter");
  await again.press("Enter");
  await page.waitForURL(/\/s\/again\?view=timeline$/);
  // The list says the same as the page of the request.
  await page.goto(new URL("/console/", system.apiUrl).href);
  await page.getByRole("row", { name: /waits for an approval .*A call, a retry, an approval/ }).waitFor();
});

test("a reference links to its producer, a large value can be searched, and commands can be copied", async () => {
  const requestId = await system.submit("A long list and who reads it", [
    {
      id: "source",
      tool: "read_value",
      arguments: { value: Array.from({ length: 80 }, (_, index) => ({ name: `reader ${index}` })) },
    },
    { id: "sink", tool: "read_value", arguments: { value: "from <<source.value[3].name>> on" } },
  ]);
  await system.expectStatus(requestId, "COMPLETED");
  const page = await system.open(`/r/${requestId}/s/sink?view=steps`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "<<source.value[3].name>>" }).press("Enter");
  await page.waitForURL(/\/s\/source\?view=steps$/);
  const search = page.getByRole("searchbox", { name: "Search in output" });
  await search.fill("READER 7");
  const output = page.locator(".json", { has: search });
  await expect.poll(() => output.locator("mark").allTextContents()).toHaveLength(11);
  expect(await output.getByText("reader 12").count()).toBe(0);
  await expectAccessible(page);
  await page.getByText("Copy", { exact: true }).click();
  await page.getByRole("button", { name: "copy curl" }).click();
  const curl = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(curl).toContain(`curl -sS ${system.apiUrl} `);
});

const AMEND = graphql(`
  mutation ($requestId: ID!, $plan: JSON!) {
    amendPlan(requestId: $requestId, fromVersion: 1, plan: $plan, execute: true) { request { version } }
  }
`);

test("the steps that an amendment added, removed, changed and carried over are shown by sign and field", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no" }] });
  const first = { id: "first", tool: "read_value", arguments: { value: 1 } };
  const requestId = await system.submit("Pay, then tell", [
    first,
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<first>>", note: "old" } },
    { id: "tell", tool: "read_value", arguments: { value: "<<pay>>" } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const steps = [
    first,
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<first>>", note: "new" } },
    { id: "write", tool: "read_value", arguments: { value: "<<pay>>" } },
  ];
  const plan = { steps } as never;
  await createClient({ url: system.apiUrl }).execute(AMEND, { requestId, plan });
  await system.expectStatus(requestId, "COMPLETED", 2);
  for (const scheme of ["light", "dark"] as const) {
    const page = await system.open(`/r/${requestId}?view=versions`, scheme);
    await page.locator(".diff-box").first().waitFor();
    expect(await page.locator(".change-counts .pill").allTextContents()).toEqual([
      "+ 1 added",
      "− 1 removed",
      "≠ 1 changed",
      "= 1 carried over",
    ]);
    const field = page.getByRole("row").filter({ hasText: "arguments.note" });
    expect(await field.getByRole("cell").allInnerTexts()).toEqual([
      "≠ pay",
      "arguments.note",
      '"old"',
      '"new"',
    ]);
  }
});

/** What a page holds: its open feeds, and what its browser counts for it after a collection of garbage. */
async function heldBy(page: Page, feeds: ReadonlySet<Request>) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  await session.detach();
  return { feeds: feeds.size, nodes, jsEventListeners };
}

test("a page that is open for 12 h is right afterwards: connected, with the true age, and holds no more", async () => {
  const requestId = await system.submit("Wait for the morning", [
    { id: "ask", tool: "plain_effect", arguments: { value: 1 }, approval: true },
  ]);
  const proxy = await startTcpProxy(Number(new URL(system.apiUrl).port));
  onTestFinished(() => proxy.close());
  const page = await system.open("/nowhere");
  const feeds = new Set<Request>();
  let opened = 0;
  page.on("request", (request) => {
    if (!/subscription/.test(request.postData() ?? "")) return;
    feeds.add(request);
    opened += 1;
  });
  page.on("requestfinished", (request) => feeds.delete(request));
  page.on("requestfailed", (request) => feeds.delete(request));
  await page.clock.install();
  await page.goto(`http://127.0.0.1:${proxy.port}/console/r/${requestId}`);
  const live = page.getByText("live", { exact: true });
  const head = page.locator("header .pill").first();
  await head.getByText("waits for an approval").waitFor();
  await live.waitFor();
  // As when a laptop sleeps: each hour passes at once, and the feed is opened anew because its old one may be dead.
  const hour = async () => {
    const before = opened;
    await page.clock.fastForward("01:00:00");
    await expect.poll(() => opened).toBeGreaterThan(before);
    await expect.poll(() => feeds.size).toBe(1);
  };
  await hour();
  await hour();
  await page.getByText("asked 2 h ago").waitFor();
  await page.locator(".step-box").waitFor();
  await page.locator(".step-row").waitFor();
  const early = await heldBy(page, feeds);
  for (let passed = 2; passed < 11; passed += 1) await hour();
  await page.getByText("asked 11 h ago").waitFor();
  const late = await heldBy(page, feeds);
  expect(late.feeds).toBe(early.feeds);
  // What each hour left would be here nine times; some nodes come and go with what is said about the connection.
  expect(late.nodes).toBeLessThan(early.nodes + 45);
  expect(late.jsEventListeners).toBeLessThan(early.jsEventListeners + 45);
  // In the last hour nothing gets through, and meanwhile the request ends.
  proxy.freeze();
  await createClient({ url: system.apiUrl }).execute(CANCEL, { requestId });
  await system.expectStatus(requestId, "CANCELLED");
  await page.clock.fastForward("01:00:00");
  await page.getByText(/^not live: 1 h/).waitFor();
  await page.getByText("asked 12 h ago").waitFor();
  proxy.mend();
  await head.getByText("cancelled").waitFor();
  await live.waitFor();
});

test("Escape closes the list of keys, and leaves the step open", async () => {
  const requestId = await system.submit("One read", [{ id: "a", tool: "read_value" }]);
  await system.expectStatus(requestId, "COMPLETED");
  const page = await system.open(`/r/${requestId}/s/a`);
  await page.getByRole("article", { name: "Step a" }).waitFor();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "detached" });
  expect(page.url()).toContain("/s/a");
});

test("steps with the names of what every object has are drawn like others, and open", async () => {
  const names = ["toString", "hasOwnProperty", "valueOf"];
  const requestId = await system.submit(
    "Steps with odd names",
    names.map((id, at) => ({
      id,
      tool: "keyed_effect",
      arguments: { value: at },
      dependsOn: at === 0 ? [] : [names[at - 1]],
    })),
  );
  await system.expectStatus(requestId, "COMPLETED");
  const page = await system.open(`/r/${requestId}?view=graph`);
  for (const name of names) await page.locator(".step-box").filter({ hasText: name }).waitFor();
  expect(await page.getByText("the layout program did not start").count()).toBe(0);
  const lefts = await Promise.all(
    names.map(
      async (name) => (await page.locator(".step-box").filter({ hasText: name }).boundingBox())?.x ?? 0,
    ),
  );
  expect(lefts).toEqual(lefts.toSorted((one, other) => one - other));
  await page.locator(".step-box").filter({ hasText: "toString" }).click();
  await page.getByRole("article", { name: "Step toString" }).getByText("output").waitFor();
});
