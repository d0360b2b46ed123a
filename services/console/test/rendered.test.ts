/** Every page as it is drawn, in both schemes and at the widths of a phone, a tablet and a laptop. */
import { createClient, graphql } from "@planwright/client";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";
import { expectFocusShown, expectWellDrawn } from "./rendered-page.ts";

const SUBMIT = graphql(`mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId } }`);

const AMEND = graphql(`
  mutation ($requestId: ID!, $plan: JSON!) {
    amendPlan(requestId: $requestId, fromVersion: 1, plan: $plan, execute: false) { request { version } }
  }
`);

let system: ConsoleSystem;
/** The requests that the pages show. */
let failed = "";
let approval = "";
let completed = "";
let doubt = "";
let list = "";
let running = "";

/** A list of three calls, one after another, of which the failed ones are collected. */
const each = (tool: string) => ({
  id: "letters",
  forEach: {
    items: ["Ann of the customer service in Hamburg", "Bob", "Cid"],
    concurrency: 1,
    errors: "collect",
    do: { tool, arguments: { value: "<<item>>", note: "your invoice of October is attached" } },
  },
});

/** Submits a plan whose outputs are looked at: a table, numbers over time, Markdown, fields, a tree. */
async function submitResults(): Promise<string> {
  const values = {
    customers: ["Ann", "Bob", "Cid"].map((name, index) => ({
      name,
      email: `${name.toLowerCase()}@a-shop-with-a-long-name.example.com`,
      total: 1_200.5 * (index + 1),
      address: "Lange Straße 42, 20095 Hamburg, behind the second court, on the third floor",
    })),
    days: [1, 2, 3, 4].map((day) => ({ day: `2026-10-0${day}`, total: day * 10 })),
    report: "# October\n\n**30** invoices, see [the shop](https://shop.test/x).\n\n- one\n- two",
    facts: { count: 3, currency: "EUR", last: { id: 7, tags: ["paid", "late"] } },
  };
  const steps = Object.entries(values).map(([id, value]) => ({
    id,
    tool: "read_value",
    arguments: { value },
  }));
  const outputs = Object.fromEntries(steps.map(({ id }) => [id, `<<${id}.value>>`]));
  const plan = { steps, outputs } as never;
  const { submitPlan } = await createClient({ url: system.apiUrl }).execute(SUBMIT, { plan });
  return submitPlan.requestId;
}

beforeAll(async () => {
  system = await startConsole();
  completed = await submitResults();
  const message = "No account with the number 4242 exists in the ledger of this year";
  system.tools.script({ keyed_effect: [{ type: "tool-error", message }] });
  failed = await system.submit("Charge the customer for the subscription of this month and tell the team", [
    { id: "customer", tool: "read_value", arguments: { value: 1 } },
    { id: "charge", tool: "keyed_effect", arguments: { value: "<<customer>>" } },
    { id: "receipt", tool: "read_value", arguments: { value: "<<charge>>" } },
  ]);
  await system.expectStatus(failed, "FAILED");
  const next = {
    plan: { steps: [{ id: "customer", tool: "read_value", arguments: { value: 2 } }] } as never,
  };
  await createClient({ url: system.apiUrl }).execute(AMEND, { requestId: failed, ...next });
  const refusal = { type: "tool-error" as const, message: "The address of this customer is not known" };
  system.tools.script({ keyed_effect: [{ type: "latency", ms: 0 }, refusal] });
  list = await system.submit("Send the invoice of October to three customers", [each("keyed_effect")]);
  await system.expectStatus(list, "PARTIAL");
  system.tools.script({ plain_effect: [1, 2, 3, 4].map(() => ({ type: "lose-answer" as const })) });
  doubt = await system.submit("Send letters whose answers are lost, one alone and three in a list", [
    { id: "alone", tool: "plain_effect", arguments: { value: "to Ann", note: "your invoice" } },
    each("plain_effect"),
  ]);
  approval = await system.submit("Refund order 1042 to a customer after a look at the amount", [
    { id: "refund", tool: "keyed_effect", arguments: { amount: 129.5, currency: "EUR" }, approval: true },
  ]);
  await system.submit("Read what is waiting for a start", [{ id: "a", tool: "read_value" }], false);
  system.tools.script({ keyed_effect: [{ type: "latency", ms: 600_000 }] });
  running = await system.submit("Charge the customer while the bank takes its time", [
    { id: "customer", tool: "read_value", arguments: { value: 1 } },
    { id: "charge", tool: "keyed_effect", arguments: { value: "<<customer>>" }, timeoutMs: 600_000 },
    { id: "receipt", tool: "read_value", arguments: { value: "<<charge>>" } },
  ]);
  await system.expectStatus(completed, "COMPLETED");
});
afterAll(() => system?.close());

const WIDTHS = [390, 768, 1280] as const;

/** A page, and what shows that it is complete. */
interface DrawnPage {
  name: string;
  path: () => string;
  shown: string;
}

const PAGES: readonly DrawnPage[] = [
  { name: "the parts", path: () => "/_parts", shown: ".parts-page" },
  { name: "home", path: () => "/", shown: ".home-card.is-counted" },
  { name: "a filtered list", path: () => "/?status=PARTIAL", shown: ".request-row" },
  { name: "a list without a match", path: () => "/?text=nothing+has+this", shown: ".empty-state" },
  { name: "the tools", path: () => "/tools", shown: ".tool-list" },
  { name: "a tool", path: () => "/tools/keyed_effect", shown: ".contract" },
  { name: "the fleet", path: () => "/fleet", shown: ".table" },
  { name: "no page", path: () => "/nowhere", shown: ".empty" },
  { name: "a running request", path: () => `/r/${running}`, shown: ".step-box" },
  { name: "an approval", path: () => `/r/${approval}/s/refund`, shown: ".decision-panel" },
  { name: "a doubt", path: () => `/r/${doubt}/s/alone`, shown: ".decision-panel" },
  { name: "many doubts", path: () => `/r/${doubt}/s/letters`, shown: ".doubts tbody tr" },
  { name: "a failed step", path: () => `/r/${failed}/v/1/s/charge`, shown: ".inspector" },
  { name: "results", path: () => `/r/${completed}`, shown: ".result" },
  { name: "the items of a list", path: () => `/r/${list}/s/letters`, shown: ".items-table" },
  { name: "a journal", path: () => `/r/${list}?view=journal`, shown: "tbody tr" },
  { name: "steps", path: () => `/r/${list}?view=steps`, shown: ".step-row" },
  { name: "a timeline", path: () => `/r/${approval}?view=timeline`, shown: ".timeline" },
  { name: "versions", path: () => `/r/${failed}?view=versions`, shown: ".diff-box" },
  { name: "the desk", path: () => "/desk", shown: ".cm-content" },
  { name: "the desk of a request", path: () => `/desk/${list}`, shown: ".step-box" },
];

test("the list begins on the first screen, and the tabs of pages tell them apart", async () => {
  const page = await system.open("/");
  for (const [width, height, highest] of [
    [1280, 800, 420],
    [390, 844, 420],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.locator(".home-card.is-counted").nth(1).waitFor();
    const box = await page.locator(".request-table").boundingBox();
    expect(box?.y ?? 1_000).toBeLessThan(highest);
  }
  await expect.poll(() => page.title()).toBe("Requests · Planwright");
  await page.goto(new URL(`/console/r/${approval}`, system.apiUrl).href);
  await expect
    .poll(() => page.title())
    .toBe("Refund order 1042 to a customer after a look at the amount · waits for an approval · Planwright");
});

test("what failed is told whole: its message, its newest request, and what to do", async () => {
  const page = await system.open("/");
  const failures = page.getByRole("region", { name: "Failures" });
  await failures.getByText("The address of this customer is not known").waitFor();
  await failures.getByText(/^If the reason lay outside and is gone, .*\w\.$/).waitFor();
  for (const width of WIDTHS.slice(1)) {
    await page.setViewportSize({ width, height: 844 });
    const texts = failures.locator(".list-row-title, .list-row-note, .list-row-note *");
    const cut = await texts.evaluateAll((all) =>
      all
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
        .map((one) => one.textContent),
    );
    expect(cut).toEqual([]);
    const title = failures.locator(".list-row-title").first();
    expect(await title.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeLessThanOrEqual(1);
  }
});

test("a plan of four columns is smaller beside the inspector, and its texts are still readable", async () => {
  const read = (id: string, value: unknown) => ({ id, tool: "read_value", arguments: { value } });
  const requestId = await system.submit("Four in a row", [
    read("one", 1),
    read("two", "<<one>>"),
    read("three", "<<two>>"),
    read("four", "<<three>>"),
  ]);
  await system.expectStatus(requestId, "COMPLETED");
  const page = await system.open(`/r/${requestId}/s/four?view=graph`);
  await page.getByRole("article", { name: "Step four" }).waitFor();
  const texts = page.locator(".step-box-name, .step-box-tool, .step-box-time");
  const smallest = () =>
    texts.evaluateAll((all) => {
      const drawn = all.map((one) => {
        const node = one.closest<HTMLElement>(".step-box");
        const zoom = (node?.getBoundingClientRect().width ?? 0) / (node?.offsetWidth ?? 1);
        return Number.parseFloat(getComputedStyle(one).fontSize) * zoom;
      });
      return Math.min(...drawn);
    });
  await expect.poll(() => texts.count()).toBe(12);
  await expect.poll(smallest).toBeGreaterThan(10.8);
});

test("the controls of the list are in one row on a tablet", async () => {
  const page = await system.open("/");
  await page.setViewportSize({ width: 768, height: 1_024 });
  const row = page.locator(".filters-row");
  await row.waitFor();
  const heights = await row.evaluate((one) => [
    one.getBoundingClientRect().height,
    Math.max(...[...one.children].map((child) => child.getBoundingClientRect().height)),
  ]);
  expect(heights[0]).toBe(heights[1]);
});

test("a request that waits for an approval says so, with its amount, in the same words as the command line", async () => {
  const page = await system.open("/");
  const needs = page.getByRole("region", { name: "Needs you" });
  await needs.getByText("129.5 EUR").waitFor();
  await needs.getByText("waits for an approval").waitFor();
  const row = page.getByRole("row").filter({ hasText: "Refund order 1042" });
  await row.getByText("waits for an approval").waitFor();
  expect(await row.getByText("executing").count()).toBe(0);
});

test.each(WIDTHS)(
  "a duration in the list is told whole, and a decision is shown whole, at %d px",
  async (width) => {
    const page = await system.open("/");
    await page.setViewportSize({ width, height: 844 });
    const row = page.getByRole("row").filter({ hasText: "Refund order 1042" });
    const duration = row.locator(".request-cell-duration");
    await duration.getByText(/, and .* waiting for people$/).waitFor();
    const isCut = (place: Locator) =>
      place.evaluate(
        (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1,
      );
    await expect.poll(() => isCut(duration)).toBe(false);
    const [cell, frame] = [await duration.boundingBox(), await row.boundingBox()];
    expect((cell?.y ?? 0) + (cell?.height ?? 999)).toBeLessThanOrEqual(
      (frame?.y ?? 0) + (frame?.height ?? 0),
    );
    await page.goto(new URL(`/console/r/${approval}/s/refund`, system.apiUrl).href);
    const pane = page.getByRole("region", { name: "Inspector" });
    await pane.locator(".decision-panel").waitFor();
    // Beside the graph it scrolls; below each other the page scrolls.
    if (width < 900) await expect.poll(() => isCut(pane)).toBe(false);
  },
);

test("the list is filtered while a text is typed, and an id opens its request", async () => {
  const page = await system.open("/");
  await page.getByRole("searchbox").pressSequentially("Refund order");
  await page.waitForURL(/text=Refund\+order$/);
  await page.getByRole("searchbox").fill(`see ${failed}`);
  await page.waitForURL(new RegExp(`/r/${failed}$`));
});

test("a frozen API is not live, the page says how old its state is, and is live again by itself", async () => {
  const page = await system.open("/");
  await page.getByText("live", { exact: true }).first().waitFor();
  let isFrozen = true;
  await page.route(/\/(?:graphql|healthz)$/, async (route) => {
    while (isFrozen) await new Promise((resolve) => setTimeout(resolve, 50));
    await route.continue().catch(() => undefined);
  });
  await page.getByText(/^not live: \d+/).waitFor();
  isFrozen = false;
  await page.getByText(/^not live/).waitFor({ state: "detached" });
});

test("an open page asks whether the API lives without an operation, which would count against a key's limit", async () => {
  const page = await system.open("/nowhere");
  const operations: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/graphql")) operations.push(request.postData() ?? "");
  });
  for (const _ of [1, 2]) await page.waitForResponse("**/healthz");
  expect(operations).toEqual([]);
});

/** `npm test` looks at a page once in each scheme, at a width that the pages take in turn; `npm run proof` at all. */
for (const { widthsOf, widths, options } of [
  {
    widths: "a width",
    widthsOf: (turn: number) => WIDTHS.filter((_, index) => index === turn % WIDTHS.length),
    options: {},
  },
  { widths: "each width", widthsOf: () => WIDTHS, options: { tags: ["proof"] } },
])
  test.each(PAGES.map((page, turn) => ({ ...page, turn })))(
    `$name is drawn well in both schemes and at ${widths}, shows the focus and is accessible`,
    options,
    async ({ path, shown, turn }) => {
      const page = await system.open(path());
      for (const [more, colorScheme] of (["light", "dark"] as const).entries()) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const width of widthsOf(turn + more)) {
          await page.setViewportSize({ width, height: 844 });
          await page.locator(shown).first().waitFor();
          await expectWellDrawn(page);
          await expectAccessible(page);
        }
        await expectFocusShown(page);
      }
    },
  );
