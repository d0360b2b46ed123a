import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClient, graphql } from "@planwright/client";
import { type System, type SystemOptions, startSystem, testAndProof } from "@planwright/testing";
import type { Result } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";
import { sharedBrowser } from "./open-browser.ts";

const SUBMIT = graphql(`
  mutation ($plan: JSON!, $query: String!, $execute: Boolean!) {
    submitPlan(plan: $plan, query: $query, execute: $execute) { requestId }
  }
`);
const STATUS = graphql(`query ($requestId: ID!) { request(requestId: $requestId) { status version } }`);

/** The size of the screen, in pixels. */
export const SCREEN = { width: 1280, height: 800 };

/**
 * The colour schemes. `npm test` looks in the light one, and at every page in both (`rendered.test.ts`);
 * `npm run proof` also looks in the dark one.
 */
export const SCHEMES = testAndProof(["light", "dark"] as const, (scheme) => scheme, ["light"]);

/** A browser that shows the console of a system. */
export interface ConsoleView {
  /** Submits a plan with a sentence; by default it is executed. */
  submit(query: string, steps: readonly object[], execute?: boolean): Promise<string>;
  /** Waits until a request has this status in this version. */
  expectStatus(requestId: string, status: string, version?: number): Promise<void>;
  /** Opens a page of the console. The test fails if the page has an error or logs one in the browser. */
  open(path: string, colorScheme?: "light" | "dark"): Promise<Page>;
}

/** The system in the process of the test, with a browser that shows its console. */
export type ConsoleSystem = System & ConsoleView;

/** Starts the system for the browser of this process. Call `close` at the end. */
export function startConsole(options: SystemOptions = {}): Promise<ConsoleSystem> {
  return openConsole(startSystem(options));
}

/** Shows a system that is starting in the browser. Call `close` at the end: it ends the system. */
export async function openConsole<Started extends Pick<System, "apiUrl" | "close">>(
  starting: Promise<Started>,
): Promise<Started & ConsoleView> {
  const system = await starting;
  const browser = await sharedBrowser();
  const client = createClient({ url: system.apiUrl });
  return {
    ...system,
    async submit(query, steps, execute = true) {
      const plan = { steps } as never;
      const { submitPlan } = await client.execute(SUBMIT, { plan, query, execute });
      return submitPlan.requestId;
    },
    async expectStatus(requestId, status, version = 1) {
      // A thousand steps take long on a busy machine. Also called outside tests, where nothing is polled.
      await vi.waitFor(
        async () => expect(await client.readRequest(STATUS, requestId)).toMatchObject({ status, version }),
        { timeout: 180_000, interval: 50 },
      );
    },
    open: (path, colorScheme = "light") => openPage(browser, system.apiUrl, path, colorScheme),
    close: () => system.close(),
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
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  await page.goto(new URL(`/console${path}`, apiUrl).href);
  return page;
}

/** Minified, because every page that is checked compiles it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Fails when axe finds an accessibility problem on the page. A page gets axe once, and sends back only what is wrong:
 * axe and its results take more processor time than its rules.
 */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  const violations = await page.evaluate<Result[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then((results) => results.violations)`,
  );
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual(
    [],
  );
}

/** Fails when a text is not visible without scrolling. */
export async function expectInSight(page: Page, text: string): Promise<void> {
  const place = page.getByText(text).first();
  await place.waitFor();
  const box = await place.boundingBox();
  expect(box && box.y >= 0 && box.y + box.height <= SCREEN.height).toBe(true);
}
