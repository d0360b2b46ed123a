/** Every page as it is drawn, in both schemes and at the widths of a phone, a tablet and a laptop. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";
import { expectFocusShown, expectWellDrawn } from "./rendered-page.ts";

let system: ConsoleSystem;
/** The requests that the pages show. */
let failed = "";
let approval = "";
beforeAll(async () => {
  system = await startConsole();
  const message = "No account with the number 4242 exists in the ledger of this year";
  system.tools.script({ keyed_effect: [{ type: "tool-error", message }] });
  failed = await system.submit("Charge the customer for the subscription of this month and tell the team", [
    { id: "customer", tool: "read_value", arguments: { value: 1 } },
    { id: "charge", tool: "keyed_effect", arguments: { value: "<<customer>>" } },
    { id: "receipt", tool: "read_value", arguments: { value: "<<charge>>" } },
  ]);
  await system.expectStatus(failed, "FAILED");
  approval = await system.submit("Refund order 1042 to a customer after a look at the amount", [
    { id: "refund", tool: "keyed_effect", arguments: { amount: 129.5, currency: "EUR" }, approval: true },
  ]);
  await system.submit("Read what is waiting for a start", [{ id: "a", tool: "read_value" }], false);
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
  { name: "a filtered list", path: () => "/?status=FAILED", shown: ".request-row" },
  { name: "a list without a match", path: () => "/?text=nothing+has+this", shown: ".empty-state" },
  { name: "the tools", path: () => "/tools", shown: ".tool-list" },
  { name: "a tool", path: () => "/tools/keyed_effect", shown: ".contract" },
  { name: "the fleet", path: () => "/fleet", shown: ".table" },
  { name: "no page", path: () => "/nowhere", shown: ".empty" },
];

test("the list begins on the first screen, and the tabs of pages tell them apart", async () => {
  const page = await system.open("/");
  for (const [width, height, highest] of [
    [1280, 800, 420],
    [390, 844, 480],
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

test("a request that waits for an approval says so, with its amount, in the same words as the command line", async () => {
  const page = await system.open("/");
  const needs = page.getByRole("region", { name: "Needs you" });
  await needs.getByText("129.5 EUR").waitFor();
  await needs.getByText("waits for an approval").waitFor();
  const row = page.getByRole("row").filter({ hasText: "Refund order 1042" });
  await row.getByText("waits for an approval").waitFor();
  expect(await row.getByText("executing").count()).toBe(0);
});

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

test.each(PAGES.flatMap((page) => (["light", "dark"] as const).map((scheme) => ({ ...page, scheme }))))(
  "$name, in $scheme, is drawn well at each width, shows the focus and is accessible",
  async ({ path, shown, scheme }) => {
    const page = await system.open(path(), scheme);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      await page.locator(shown).first().waitFor();
      await expectWellDrawn(page);
      await expectAccessible(page);
    }
    await expectFocusShown(page);
  },
);
