/** The palette, the catalogue and the fleet in a real browser with the complete system. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, SCHEMES, startConsole } from "./console-system.ts";

/** A server with one tool that has neither hints nor a contract. */
const TRACKER = `
  const answers = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } },
    "tools/list": { tools: [{ name: "list_tickets", description: "List tickets", inputSchema: { type: "object" } }] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} }));
  });`;

let system: ConsoleSystem;
beforeAll(async () => {
  const mcpServers = {
    broken: { command: process.execPath, args: ["-e", "console.error('no database'); process.exit(1)"] },
    tracker: { command: process.execPath, args: ["-e", TRACKER] },
  };
  system = await startConsole({ mcpServers });
});
afterAll(() => system?.close());

/** Opens the palette and types. */
async function command(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command, text or request id" }).fill(text);
}

test("the palette opens pages and requests by keyboard only, and returns the focus", async () => {
  const requestId = await system.submit("Found by its id", [{ id: "a", tool: "read_value" }]);
  const page = await system.open("/");
  const search = page.getByRole("searchbox");
  await search.focus();
  await command(page, "desk");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await search.evaluate((element) => element.matches(":focus"))).toBe(true);
  await command(page, "desk");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/desk$/);
  await command(page, requestId);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/r/${requestId}$`));
  await command(page, "journal");
  await page.keyboard.press("Enter");
  await page.waitForURL(/view=journal$/);
  await command(page, "Found by");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\?text=Found\+by$/);
});

test("the palette acts on the shown request, and shows why a command was refused", async () => {
  const requestId = await system.submit(
    "Cancelled by the keyboard",
    [{ id: "a", tool: "read_value" }],
    false,
  );
  const [page, late] = [await system.open(`/r/${requestId}`), await system.open(`/r/${requestId}`)];
  for (const each of [page, late]) {
    await each.getByRole("heading", { name: "Cancelled by the keyboard" }).waitFor();
    await each.keyboard.press("Control+k");
    const ofRequest = each.getByRole("group", { name: "This request" });
    await ofRequest.getByRole("option", { name: "Execute the plan" }).waitFor();
    // A group is named once, above its commands.
    expect(await each.getByRole("dialog").getByText("This request").count()).toBe(1);
  }
  await page.keyboard.type("this request cancel");
  await page.keyboard.press("Enter");
  await system.expectStatus(requestId, "CANCELLED");
  await late.keyboard.type("execute");
  await late.keyboard.press("Enter");
  await late.getByRole("dialog").getByRole("alert").getByText("STATE_CONFLICT").waitFor();
});

test("? lists the keys, and is text in a field", async () => {
  const page = await system.open("/");
  await page.getByRole("searchbox").pressSequentially("why?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("heading", { name: "Requests", exact: true }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("next diagnostic").waitFor();
  await expectAccessible(page);
});

test("the catalogue shows the contract of a tool with reasons, and why a server is not connected", async () => {
  const page = await system.open("/tools");
  const broken = page.getByRole("article", { name: "Server broken" });
  await broken.getByText("no database").waitFor();
  await page.getByRole("searchbox").fill("keyed");
  await page.getByRole("button", { name: /^keyed_effect/ }).click();
  await page.waitForURL(/\/tools\/keyed_effect\?text=keyed$/);
  const row = page.getByRole("row", { name: /^idempotency/ });
  expect(await row.innerText()).toMatch(/key\s+the server/);
  await page.reload();
  await page.getByRole("article", { name: "Tool keyed_effect" }).waitFor();
});

test("the catalogue suggests contracts with reasons, and gives the block of those that the operator chooses", async () => {
  const page = await system.open("/tools");
  const tracker = page.getByRole("article", { name: "Server tracker" });
  await tracker.getByText("contracts suggested for 1 tool").click();
  await tracker.getByText(/its name \(list tickets\) and its description/).waitFor();
  expect(await tracker.getByRole("button", { name: /^copy/ }).count()).toBe(0);
  await tracker.getByRole("button", { name: "ask a model too" }).click();
  await tracker.getByText(/^No model was asked: no planner with a model lives/).waitFor();
  await tracker.getByRole("checkbox", { name: "list_tickets" }).check();
  await tracker.getByRole("button", { name: "copy the block for 1 tool" }).waitFor();
  expect(JSON.parse(await tracker.locator("pre").innerText())).toEqual({
    tools: { list_tickets: { side_effects: false } },
  });
  await expectAccessible(page);
});

test("the fleet shows its problem, its workers and the work that waits", async () => {
  const page = await system.open("/fleet");
  await page.getByText("No planner takes work: sentences stay in planning").waitFor();
  await page.getByRole("region", { name: "Executors" }).getByText("takes work").waitFor();
  await page
    .getByRole("region", { name: "Plans that wait for an executor" })
    .getByText("nothing waits")
    .waitFor();
});

for (const { cases, options } of SCHEMES)
  test.each(cases)("palette, catalogue and fleet are accessible in %s", options, async (scheme) => {
    const page = await system.open("/tools/read_value", scheme);
    await page.getByRole("article", { name: "Tool read_value" }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Fleet" }).click();
    await page.getByRole("region", { name: "Executors" }).waitFor();
    await expectAccessible(page);
  });
