/** `npm run bench -- console`: how long a user waits for a page, in a real browser on the whole system. */
import { availableParallelism } from "node:os";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import { type ConsoleSystem, SCREEN, startConsole } from "../console-system.ts";
import { openBrowser } from "../open-browser.ts";
import { thousandSteps } from "../thousand-steps.ts";

/** Visits of each page. The first one also warms the API. */
const VISITS = 7;
/** Requests in the list that is scrolled to its end. */
const LIST_REQUESTS = Number(process.env["LIST_REQUESTS"] ?? 10_000);
const SUBMITTED_AT_ONCE = 64;

let system: ConsoleSystem;
let browser: Browser;
beforeAll(async () => {
  [system, browser] = await Promise.all([startConsole(), openBrowser()]);
  print(`Node ${process.version}, ${availableParallelism()} cores, Chromium ${browser.version()} headless`);
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Opens a page with an empty cache.
 * @returns the page, and the milliseconds from the start of the navigation to the first frame that shows the element
 */
async function visit(path: string, selector: string): Promise<{ page: Page; ms: number }> {
  const context = await browser.newContext({ viewport: SCREEN });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.addInitScript({ content: `globalThis.shown = ${firstFrameWith(selector)}` });
  await page.goto(new URL(`/console${path}`, system.apiUrl).href);
  return { page, ms: await page.evaluate("globalThis.shown") };
}

/** Source of a promise of the time of the first frame that shows an element. */
function firstFrameWith(selector: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(${JSON.stringify(selector)})) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(look);
    };
    look();
  })`;
}

/** Prints the first visit, and the median and the longest of the others. */
async function printVisits(name: string, path: string, selector: string): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < VISITS; count += 1) {
    const { page, ms } = await visit(path, selector);
    times.push(ms);
    await page.close();
  }
  const [first = 0, ...warm] = times;
  const sorted = warm.toSorted((one, other) => one - other);
  const [median = 0, longest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  print(`${name}: first ${inMs(first)}, then median ${inMs(median)}, longest ${inMs(longest)}`);
}

const inMs = (ms: number): string => `${Math.round(ms)} ms`;

test("the first page and a request of 1,000 steps", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no such account" }] });
  const requestId = await system.submit("A thousand steps", thousandSteps());
  await system.expectStatus(requestId, "FAILED");
  await printVisits("first page, with its list", "/", ".request-row");
  await printVisits("request of 1,000 steps, with its graph", `/r/${requestId}`, ".step-box");
  const { page } = await visit(`/r/${requestId}`, ".step-box");
  const from = performance.now();
  await page.locator(".step-box", { hasText: "pay" }).click();
  await page.getByRole("article", { name: "Step pay" }).getByText("no such account").first().waitFor();
  print(`request of 1,000 steps, from a click on a step to its error: ${inMs(performance.now() - from)}`);
});

test("a long list, scrolled to its end", async () => {
  for (let made = 0; made < LIST_REQUESTS; made += SUBMITTED_AT_ONCE) {
    const count = Math.min(SUBMITTED_AT_ONCE, LIST_REQUESTS - made);
    const steps = [{ id: "a", tool: "read_value" }];
    await Promise.all(
      Array.from({ length: count }, (_, index) => system.submit(`Row ${made + index}`, steps, false)),
    );
  }
  const { page } = await visit("/?text=Row", ".request-row");
  const frame = page.getByRole("group", { name: "Requests, newest first" });
  const from = performance.now();
  await frame.focus();
  while ((await page.getByText("Row 0", { exact: true }).count()) === 0) await page.keyboard.press("End");
  print(
    `list of ${LIST_REQUESTS.toLocaleString("en")} requests, scrolled to the end: ${inMs(performance.now() - from)}`,
  );
});
