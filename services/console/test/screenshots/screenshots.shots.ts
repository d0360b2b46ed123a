/** `npm run screenshots`: every view in light and dark, on three screens, into a folder that is not tracked. */

import { mkdir, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { type ConsoleSystem, SCREEN, startConsole } from "../console-system.ts";
import { CHARGE, makeStates, SHOP_TOOLS, type States } from "./states.ts";

const FOLDER = fileURLToPath(new URL("../../.screenshots/", import.meta.url));

let system: ConsoleSystem;
let states: States;
beforeAll(async () => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const mcpServers = {
    warehouse: {
      command: process.execPath,
      args: ["-e", "console.error('warehouse: cannot open /etc/warehouse.json'); process.exit(1)"],
    },
  };
  system = await startConsole({ tools: SHOP_TOOLS, mcpServers });
});
afterAll(() => system?.close());

/** The screens of a laptop, a tablet and a phone, in pixels. */
const SCREENS = {
  laptop: SCREEN,
  tablet: { width: 768, height: 1_024 },
  phone: { width: 390, height: 844 },
} as const;

/** The page as it is, in both colour schemes and on each screen. */
async function take(page: Page, name: string): Promise<void> {
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: `${FOLDER}${name}-${screen}-${colorScheme}.png` });
    }
  }
  await page.setViewportSize(SCREEN);
}

test("empty views", async () => {
  const page = await system.open("/");
  await page.getByText("There is no request yet").waitFor();
  await page.getByText("No planner takes work").first().waitFor();
  await take(page, "home-empty");
  await page.goto(page.url().replace(/\/console.*/, "/console/fleet"));
  await page.getByText("None is alive").waitFor();
  await take(page, "fleet-no-planner");
  await page.goto(page.url().replace(/\/console.*/, "/console/desk"));
  await page.getByText("Write a plan").waitFor();
  await take(page, "desk-empty");
  await page.goto(page.url().replace(/\/console.*/, "/console/nowhere"));
  await page.getByText("There is no page").waitFor();
  await take(page, "nowhere");
});

test("views with what they are for", async () => {
  await system.startPlanner();
  states = await makeStates(system);
  const page = await system.open("/");
  await page.getByText("Send Frank his receipt once").nth(1).waitFor();
  await page.locator(".list-row-note").first().waitFor();
  await take(page, "home");
  await page.getByRole("button", { name: "Run again …" }).first().click();
  await page.getByText("requests would be run again").waitFor();
  await take(page, "bulk");
  await page.keyboard.press("Escape");
  await page.getByText("columns", { exact: true }).click();
  await take(page, "home-columns");
});

test.each<[string, (made: States) => string, string]>([
  ["request-results", ({ completed }) => `/r/${completed}`, ".result"],
  ["request-completed", ({ completed }) => `/r/${completed}?view=graph`, ".step-box"],
  ["request-timeline", ({ completed }) => `/r/${completed}?view=timeline`, ".timeline"],
  ["request-journal", ({ completed }) => `/r/${completed}?view=journal`, "tbody tr"],
  ["request-failed", ({ failed }) => `/r/${failed}/s/charge`, ".step-box"],
  ["request-running", ({ running }) => `/r/${running}`, ".step-box"],
  ["request-question", ({ question }) => `/r/${question}`, ".questions"],
  ["request-cancelled", ({ cancelled }) => `/r/${cancelled}`, ".step-box"],
  ["request-list", ({ list }) => `/r/${list}/s/letters`, ".items-table"],
  ["request-versions", ({ amended }) => `/r/${amended}?view=versions`, ".diff-box"],
  ["request-steps", ({ failed }) => `/r/${failed}?view=steps`, ".step-row"],
  ["request-approval", ({ approval }) => `/r/${approval}/s/refund`, ".step-box"],
  ["request-doubt", ({ doubt }) => `/r/${doubt}/s/receipt`, ".step-box"],
  ["request-1000-steps", ({ large }) => `/r/${large}?view=graph`, ".react-flow__node"],
  ["desk-amend", ({ failed }) => `/desk/${failed}`, ".step-box"],
  ["desk-stored", ({ stored }) => `/desk/${stored}`, ".step-box"],
  ["home-filtered", () => "/?status=PARTIAL&status=FAILED", ".request-row"],
  ["home-no-match", () => "/?text=nothing+has+this", ".empty-state"],
  ["tools-list", () => "/tools", ".tool-list"],
  ["tools", () => "/tools/chargeCard", ".contract"],
  ["parts", () => "/_parts", ".parts-page"],
  ["fleet", () => "/fleet", "tbody tr"],
])("%s", async (name, pathOf, shown) => {
  const page = await system.open(pathOf(states));
  await page.locator(shown).first().waitFor();
  await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => undefined);
  await take(page, name);
});

test("the desk with errors and completion, the palette, the keys", async () => {
  const page = await system.open("/desk");
  const editor = page.getByRole("textbox", { name: "Plan as JSON" });
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(
    JSON.stringify(
      {
        steps: [
          { id: "customer", tool: "findCustomer", arguments: { value: "alice@example.com" } },
          { id: "charge", tool: "chargeCart", arguments: { value: "<<customer.id>>" } },
          { id: "receipt", tool: "sendReceipt", arguments: { value: "<<charge>>" } },
        ],
      },
      null,
      2,
    ),
  );
  await page.getByText("TOOL_UNKNOWN").waitFor();
  await page.locator(".step-box").first().waitFor();
  await take(page, "desk-errors");
  await page.locator(".cm-line", { hasText: "<<charge>>" }).click();
  await page.keyboard.press("End");
  await page.keyboard.type(', "note": "<<cus');
  await page.getByRole("option").first().waitFor();
  await take(page, "desk-completion");
  await page.keyboard.press("Escape");
  await page.goto(page.url().replace(/\/console.*/, `/console/r/${states.failed}`));
  await page.locator(".step-box").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Run again what did not complete" }).waitFor();
  await take(page, "palette");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await take(page, "keys");
});

test("a sentence while its plan is drafted", async () => {
  const text = JSON.stringify({ steps: CHARGE }, null, 2);
  system.model.script(() => ({ type: "answer", text, beforeEvent: () => wait(150) }));
  const page = await system.open("/desk");
  await page
    .getByLabel("Sentence to plan")
    .fill("Charge Alice for her open invoices and send her the receipt");
  await page.getByRole("button", { name: "Plan this sentence" }).click();
  await page.getByText("4 steps so far").waitFor();
  await take(page, "desk-drafting");
});
