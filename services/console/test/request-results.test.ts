/**
 * What a person reads and decides at a request, in a real browser with the complete system: results, items of lists,
 * doubts, the cancel, the graph in its frame, the journal.
 */
import { createClient, graphql } from "@planwright/client";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ConsoleSystem, expectAccessible, SCHEMES, SCREEN, startConsole } from "./console-system.ts";
import { openBrowser } from "./open-browser.ts";

const SUBMIT = graphql(`mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId } }`);

const DECISIONS = graphql(`
  query ($requestId: ID!) { request(requestId: $requestId) { plan { resolutions { stepKey resolution } } } }
`);

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

const read = (id: string, value: unknown) => ({ id, tool: "read_value", arguments: { value } });

/** A list of calls, by default one after another; failed items are collected. */
const each = (items: unknown[], tool: string, concurrency = 1) => ({
  id: "each",
  forEach: {
    items,
    concurrency,
    errors: "collect",
    do: { tool, arguments: { value: "<<item>>", note: "hello" } },
  },
});

/** Submits a plan whose outputs are the values of steps by name, and waits for its end. */
async function withOutputs(values: Record<string, unknown>): Promise<string> {
  const steps = Object.entries(values).map(([id, value]) => read(id, value));
  const outputs = Object.fromEntries(Object.keys(values).map((id) => [id, `<<${id}.value>>`]));
  const plan = { steps, outputs } as never;
  const { submitPlan } = await createClient({ url: system.apiUrl }).execute(SUBMIT, { plan });
  await system.expectStatus(submitPlan.requestId, "COMPLETED");
  return submitPlan.requestId;
}

/** The box of an element, which must be drawn. */
async function boxOf(place: Locator) {
  const box = await place.boundingBox();
  if (!box) throw new TypeError("The element is not drawn");
  return box;
}

/** Fails unless the whole element is inside the other one. */
async function expectInside(inner: Locator, outer: Locator): Promise<void> {
  await expect
    .poll(async () => {
      const [box, frame] = [await boxOf(inner), await boxOf(outer)];
      return (
        box.x >= frame.x - 1 &&
        box.y >= frame.y - 1 &&
        box.x + box.width <= frame.x + frame.width + 1 &&
        box.y + box.height <= frame.y + frame.height + 1
      );
    })
    .toBe(true);
}

for (const { cases, options } of SCHEMES)
  test.each(cases)(
    "a completed request shows its results first: a sorted table, a chart, Markdown, fields, in %s",
    options,
    async (scheme) => {
      const requestId = await withOutputs({
        people: [
          { name: "Bob", age: 9 },
          { name: "Ann", age: 10 },
          { name: "Cid", age: 8 },
        ],
        days: [1, 2, 3, 4].map((day) => ({ day: `2026-10-0${day}`, total: day * 10 })),
        report:
          "# October\n\n**30** invoices, see [the shop](https://shop.test/x) and [this](javascript:alert(1)).",
        facts: { count: 3, currency: "EUR" },
      });
      const page = await system.open(`/r/${requestId}`, scheme);
      const people = page.getByRole("article", { name: "Output people" });
      const names = () => people.locator("tbody td:first-child").allInnerTexts();
      await expect.poll(names).toEqual(["Bob", "Ann", "Cid"]);
      await people.getByRole("button", { name: "age" }).click();
      await expect.poll(names).toEqual(["Cid", "Bob", "Ann"]);
      await people.getByRole("button", { name: "age" }).click();
      await expect.poll(names).toEqual(["Ann", "Bob", "Cid"]);
      expect(await people.getByRole("columnheader", { name: "age" }).getAttribute("aria-sort")).toBe(
        "descending",
      );
      expect((await boxOf(people)).y).toBeLessThan(300);
      await page.getByRole("img", { name: "total: 4 values, from 10 to 40" }).waitFor();
      const report = page.getByRole("article", { name: "Output report" });
      await report.getByRole("heading", { name: "October" }).waitFor();
      expect(
        await report.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
      ).toEqual(["https://shop.test/x"]);
      await page.getByRole("article", { name: "Output facts" }).getByText("EUR").waitFor();
      expect(await page.locator(".request-head").innerText()).not.toContain("planwright ");
      await expectAccessible(page);
    },
  );

test("results are text: no HTML, no hidden characters, no picture from another place; they are copied and saved whole", async () => {
  const requestId = await withOutputs({
    text: `<img src=x onerror="document.title='hacked'"> pay\u202egnp.exe`,
    picture: { type: "image", data: "A".repeat(4_000), mimeType: "image/png" },
    rows: [{ a: 1, b: "x\ty" }],
  });
  const page = await system.open(`/r/${requestId}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("pay[U+202E]gnp.exe").waitFor();
  await page.getByText("image, image/png, 2.9 KiB").waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  const rows = page.getByRole("article", { name: "Output rows" });
  await rows.getByRole("button", { name: "copy" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("a\tb\n1\tx y");
  await rows.getByRole("button", { name: "as JSON" }).click();
  await rows.locator(".json").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    rows.getByRole("button", { name: "download" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("rows.json");
});

test("an output that is too large for an answer shows its beginning, and is saved whole", async () => {
  const requestId = await withOutputs({ large: "word ".repeat(40_000) });
  const page = await system.open(`/r/${requestId}`);
  const large = page.getByRole("article", { name: "Output large" });
  await large.getByText("the beginning").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    large.getByRole("button", { name: /^Download/ }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("large.json");
});

test("the items of a list show status, key, error and time; a failed one is opened by a click and by its address", async () => {
  system.tools.script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "no such user" },
    ],
  });
  const requestId = await system.submit("Three calls", [each(["Ann", "Bob", "Cid"], "keyed_effect")]);
  await system.expectStatus(requestId, "PARTIAL");
  const page = await system.open(`/r/${requestId}/s/each`);
  const list = page.getByRole("article", { name: "Step each", exact: true });
  await list.locator("header").getByText("partial").waitFor();
  expect(await list.locator("header").innerText()).not.toContain("✔");
  // In the graph too: a list with failed items has no green tick.
  await page.locator(".step-box-mark", { hasText: "◐" }).waitFor();
  const rows = list.getByRole("region", { name: "Items" }).getByRole("row");
  await expect.poll(() => rows.count()).toBe(4);
  // They are shown once: the tree below the graph has them only while the inspector does not.
  const tree = page.getByRole("treegrid", { name: "Steps" });
  await tree.getByRole("row", { name: /^each partial/, expanded: false }).waitFor();
  expect(await tree.getByText("each[1]").count()).toBe(0);
  // The texts of the table begin where the name of the step begins.
  const [name, cell] = [list.getByRole("heading", { name: "each" }), rows.nth(1).getByRole("button")];
  expect(Math.abs((await boxOf(name)).x - (await boxOf(cell)).x)).toBeLessThan(1);
  expect(await rows.nth(2).innerText()).toMatch(/each\[1\]\s+failed\s+no such user\s+[\d.]+ m?s/);
  await list.getByLabel("only these 1 that need a look").check();
  await expect.poll(() => rows.count()).toBe(2);
  await expectAccessible(page);
  await list.getByRole("button", { name: "each[1]" }).click();
  await page.waitForURL(/\/s\/each%5B1%5D$/);
  const item = page.getByRole("article", { name: "Step each[1]" });
  await item.getByText("no such user").first().waitFor();
  await item.getByText("Bob").first().waitFor();
  await tree.getByRole("row", { name: /^each\[1\] failed/ }).waitFor();
  await page.reload();
  await item.getByText("Bob").first().waitFor();
  await item.getByRole("button", { name: /all items of each/ }).click();
  await page.waitForURL(/\/s\/each$/);
});

test("many doubts are settled in one form, with what was sent side by side", async () => {
  system.tools.script({ plain_effect: Array.from({ length: 3 }, () => ({ type: "lose-answer" as const })) });
  const requestId = await system.submit("Three letters", [each(["Ann", "Bob", "Cid"], "plain_effect", 3)]);
  const page = await system.open(`/r/${requestId}/s/each`);
  const form = page.getByRole("region", { name: "Doubts" });
  await form.getByRole("row", { name: /each\[2\]\s+Cid\s+hello/ }).waitFor();
  await expectAccessible(page);
  const settle = form.getByRole("button", { name: /^Settle/ });
  expect(await settle.isDisabled()).toBe(true);
  await form.getByRole("button", { name: "it happened" }).click();
  await form.getByLabel("What happened to each[1]").selectOption("it did not: call it again");
  await form.getByLabel("Type 3 to confirm").fill("3");
  const box = await boxOf(settle);
  expect(box.y + box.height).toBeLessThanOrEqual(SCREEN.height);
  await settle.click();
  // Each call has the decision that was made for it.
  const client = createClient({ url: system.apiUrl });
  const decisions = async () =>
    (await client.readRequest(DECISIONS, requestId)).plan?.resolutions.map(({ stepKey, resolution }) => [
      stepKey,
      resolution,
    ]);
  await expect
    .poll(async () => Object.fromEntries((await decisions()) ?? []), { timeout: 30_000 })
    .toEqual({ "each[0]": "completed", "each[1]": "retry", "each[2]": "completed" });
  // The call that is repeated would take the behaviour that another test scripts.
  await system.expectStatus(requestId, "COMPLETED");
});

test.each(["doubt", "approval"] as const)(
  "the form of a %s is complete on the first screen",
  async (kind) => {
    if (kind === "doubt") system.tools.script({ plain_effect: [{ type: "lose-answer" }] });
    const step = { id: "send", tool: "plain_effect", arguments: { value: "to Ann" } };
    const requestId = await system.submit("Send one", [
      kind === "doubt" ? step : { ...step, approval: true },
    ]);
    const page = await system.open(`/r/${requestId}/s/send`);
    const form = page.locator(".decision-panel");
    await form.getByText("to Ann").waitFor();
    const box = await boxOf(form);
    expect(box.y).toBeGreaterThan(0);
    expect(box.y + box.height).toBeLessThanOrEqual(SCREEN.height);
    // The pill says the state, and no other line repeats it.
    await page.locator(".inspector header .pill").waitFor();
    expect(await page.locator(".inspector .facts dt", { hasText: "state" }).count()).toBe(0);
    expect(await page.getByRole("treegrid").getByText("waits for an approval").count()).toBe(
      kind === "doubt" ? 0 : 1,
    );
    if (kind === "doubt") return;
    await form.getByText(/It expires at .* in \d+ days/).waitFor();
    await form.getByLabel("Reason, for the record").fill("looked at it");
    await form.getByRole("button", { name: "Approve: the tool is called" }).click();
    await system.expectStatus(requestId, "COMPLETED");
    await page.getByText(/^Approved by .* at 20.*: looked at it$/).waitFor();
  },
);

test("a cancel says what it does and asks, and does nothing when the person goes back", async () => {
  const requestId = await system.submit("Wait for a look", [
    read("first", 1),
    { id: "ask", tool: "keyed_effect", arguments: { value: "<<first>>" }, approval: true },
    read("last", "<<ask>>"),
  ]);
  const page = await system.open(`/r/${requestId}`);
  await page.getByText("step ask (keyed_effect) waits for an approval").waitFor();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel this request" });
  await dialog.getByText("1 step completed: their outputs and effects stay.").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Let it continue" }).click();
  await dialog.waitFor({ state: "detached" });
  await system.expectStatus(requestId, "EXECUTING");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await dialog.getByRole("button", { name: "Cancel the request" }).click();
  await system.expectStatus(requestId, "CANCELLED");
  // The time once, in the form of all other times.
  const cause = page.locator(".cause");
  await cause.getByText(/the plan was cancelled at 20\S+ \S+ UTC \(CANCELLED\)/).waitFor();
  expect((await cause.innerText()).match(/\b20\d\d-/g)).toHaveLength(1);
});

/** A plan of three steps, of which the second fails. */
async function failedPlan(): Promise<string> {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "the account is closed" }] });
  const requestId = await system.submit("Pay and tell", [
    read("first", 1),
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<first>>" } },
    read("tell", "<<pay>>"),
  ]);
  await system.expectStatus(requestId, "FAILED");
  return requestId;
}

const nodeOf = (page: Page, id: string) => page.locator(".react-flow__node", { hasText: id }).first();

test("the graph fits its frame, shows the error in its node, and fits again when the inspector opens", async () => {
  const page = await system.open(`/r/${await failedPlan()}`);
  const frame = page.locator(".react-flow");
  await page.locator(".step-box-error", { hasText: "the account is closed" }).waitFor();
  for (const id of ["first", "pay", "tell"]) await expectInside(nodeOf(page, id), frame);
  // Three steps do not float in an empty frame: the steps are listed below a low graph.
  const [graph, node] = [await boxOf(frame), await boxOf(nodeOf(page, "pay"))];
  expect(graph.height).toBeLessThan(node.height * 3);
  await page.getByRole("row", { name: /^pay .*the account is closed/ }).waitFor();
  await nodeOf(page, "pay").click();
  const inspector = page.getByRole("region", { name: "Inspector" });
  await inspector.getByRole("table", { name: "attempts" }).waitFor();
  expect(await inspector.evaluate((pane) => pane.scrollWidth - pane.clientWidth)).toBe(0);
  for (const id of ["first", "pay", "tell"]) await expectInside(nodeOf(page, id), frame);
  await page.getByText("K repeated safely by its key").waitFor();
});

test("without its layout program the graph is drawn in plain columns, and says so", async () => {
  const requestId = await failedPlan();
  // The browser's log has the failed load, which fails the tests of other pages.
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const page = await (await browser.newContext({ viewport: SCREEN })).newPage();
  let tries = 0;
  await page.route("**/layout.worker*", (route) => {
    tries += 1;
    return route.abort();
  });
  await page.goto(new URL(`/console/r/${requestId}?view=graph`, system.apiUrl).href);
  await page.getByText("the layout program did not start").waitFor();
  expect(tries).toBe(2);
  const places = await Promise.all(["first", "pay", "tell"].map((id) => boxOf(nodeOf(page, id))));
  expect(places.map(({ x }) => x)).toEqual(places.map(({ x }) => x).toSorted((a, b) => a - b));
  await nodeOf(page, "pay").click();
  await page.getByRole("article", { name: "Step pay" }).waitFor();
});

test("the journal is filtered, has milliseconds and filled columns, and jumps to the failure", async () => {
  const page = await system.open(`/r/${await failedPlan()}?view=journal`);
  const journal = page.getByRole("table");
  await journal
    .getByText(/^\d\d:\d\d:\d\d\.\d{3}$/)
    .first()
    .waitFor();
  const what = await journal.locator("tbody td:nth-child(5)").allInnerTexts();
  expect(what.filter((text) => text.trim() === "")).toEqual([]);
  await page.getByRole("button", { name: "Jump to the failure" }).click();
  await expectInside(page.locator("tr.is-failure").first(), page.locator(".journal-rows"));
  await page.getByRole("searchbox", { name: "Filter events" }).fill("closed");
  const rows = journal.locator("tbody tr");
  await expect.poll(() => rows.filter({ hasNotText: "closed" }).count()).toBe(0);
  expect(await rows.count()).toBeGreaterThan(0);
  await expectAccessible(page);
});

test("a request is copied as a link and as text for a ticket", async () => {
  const requestId = await failedPlan();
  const page = await system.open(`/r/${requestId}?view=timeline`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await page.getByText("Share", { exact: true }).click();
  await page.getByRole("button", { name: "copy link" }).click();
  await expect.poll(copied).toBe(page.url());
  await page.getByRole("button", { name: "copy for a ticket" }).click();
  await expect
    .poll(copied)
    .toContain("Cause: step pay (keyed_effect) failed: the account is closed (TOOL_FAILED), since 20");
  expect(await copied()).toContain(`Request: ${requestId}, version 1`);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "copy link" }).waitFor({ state: "hidden" });
});
