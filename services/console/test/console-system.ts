import { AxeBuilder } from "@axe-core/playwright";
import { createClient, graphql } from "@planwright/client";
import { startWholeSystem, type WholeSystem, type WholeSystemOptions } from "@planwright/testing";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openBrowser } from "./open-browser.ts";

const SUBMIT = graphql(`
  mutation ($plan: JSON!, $query: String!, $execute: Boolean!) {
    submitPlan(plan: $plan, query: $query, execute: $execute) { requestId }
  }
`);
const STATUS = graphql(`query ($requestId: ID!) { request(requestId: $requestId) { status version } }`);

/** What a screen of this size shows without scrolling. */
export const SCREEN = { width: 1280, height: 800 };

/** The whole system with a browser that shows its console. */
export interface ConsoleSystem extends WholeSystem {
  /** Submits a plan with a sentence; it is executed at once unless told otherwise. */
  submit(query: string, steps: readonly object[], execute?: boolean): Promise<string>;
  /** Waits until a request has this status in this version. */
  expectStatus(requestId: string, status: string, version?: number): Promise<void>;
  /** A page of the console, which must not complain in the browser's console. */
  open(path: string, colorScheme?: "light" | "dark"): Promise<Page>;
}

/** Starts the system and the browser. Call `close` at the end. */
export async function startConsole(options: WholeSystemOptions = {}): Promise<ConsoleSystem> {
  const [system, browser] = await Promise.all([startWholeSystem(options), openBrowser()]);
  const client = createClient({ url: system.apiUrl });
  return {
    ...system,
    async submit(query, steps, execute = true) {
      const plan = { steps } as never;
      const { submitPlan } = await client.execute(SUBMIT, { plan, query, execute });
      return submitPlan.requestId;
    },
    async expectStatus(requestId, status, version = 1) {
      // A thousand steps take a while on a machine with much else to do.
      await expect
        .poll(() => client.readRequest(STATUS, requestId), { timeout: 180_000 })
        .toMatchObject({ status, version });
    },
    open: (path, colorScheme = "light") => openPage(browser, system.apiUrl, path, colorScheme),
    async close() {
      await browser.close();
      await system.close();
    },
  };
}

async function openPage(
  browser: Browser,
  apiUrl: string,
  path: string,
  colorScheme: "light" | "dark",
): Promise<Page> {
  const context = await browser.newContext({ viewport: SCREEN, colorScheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(new URL(`/console${path}`, apiUrl).href);
  return page;
}

/** Fails when axe finds a barrier on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual(
    [],
  );
}

/** Fails when an element is not on the screen as it opens. */
export async function expectInSight(page: Page, text: string): Promise<void> {
  const place = page.getByText(text).first();
  await place.waitFor();
  const box = await place.boundingBox();
  expect(box && box.y >= 0 && box.y + box.height <= SCREEN.height).toBe(true);
}
