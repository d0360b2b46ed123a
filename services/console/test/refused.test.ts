/** The pages for a user without a key, when the service needs one. */
import { type System, startSystem } from "@planwright/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { expectAccessible } from "./console-system.ts";
import { openBrowser } from "./open-browser.ts";

let system: System;
let browser: Browser;
beforeAll(async () => {
  [system, browser] = await Promise.all([startSystem({ api: { ANONYMOUS: "refuse" } }), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

/** Opens a page of the console. Console messages are not checked: the browser logs each refused call. */
async function open(path: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  await page.goto(new URL(`/console${path}`, system.apiUrl).href);
  return page;
}

test.each(["/", "/desk/req_1700000000_abcdefghijklmnopqrst", "/tools", "/fleet"])(
  "%s shows that a key is needed, and what to do",
  async (path) => {
    const page = await open(path);
    const alert = page.getByRole("alert").filter({ hasText: "UNAUTHENTICATED" }).first();
    await alert.waitFor();
    expect((await alert.getByRole("paragraph").innerText()).length).toBeGreaterThan(10);
    await expectAccessible(page);
  },
);

test("the text at the desk stays while the API refuses to check it", async () => {
  const page = await open("/desk");
  await page.getByRole("textbox", { name: "Plan as JSON" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{"steps":[{"id":"a","tool":"x"}]}');
  await page.getByText("not checked").waitFor();
  expect(await page.locator(".cm-content").innerText()).toContain('"id":"a"');
  expect(await page.getByRole("button", { name: "Submit and execute" }).isDisabled()).toBe(true);
});
