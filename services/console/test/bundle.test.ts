/** A file of debugBundle in a real browser: dropping it opens it, and the page calls no service. */
import { createClient, graphql } from "@planwright/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";
import { openBrowser } from "./open-browser.ts";

const BUNDLE = graphql(`query ($requestId: ID!) { debugBundle(requestId: $requestId) }`);

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

/** Drops a file on the page, as a person does. */
async function drop(page: Page, text: string, times = 1): Promise<void> {
  // As text, because the types of browsers are not available to tests.
  const transfer = await page.evaluateHandle(`(() => {
    const made = new DataTransfer();
    const text = ${JSON.stringify(text)}.repeat(${times});
    made.items.add(new File([text], "bundle.json", { type: "application/json" }));
    return made;
  })()`);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

test("a dropped bundle shows its request in every view, and the page does not call the service", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "<b>no</b> account" }] });
  const requestId = await system.submit("Pay from a file", [
    { id: "read", tool: "read_value", arguments: { value: "one" } },
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<read>>" } },
    { id: "tell", tool: "read_value", arguments: { value: "<<pay>>" } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const { debugBundle } = await createClient({ url: system.apiUrl }).execute(BUNDLE, { requestId });
  const page = await system.open("/");
  await page
    .getByRole("region", { name: "Requests" })
    .getByRole("link", { name: "Pay from a file" })
    .waitFor();
  await drop(page, JSON.stringify(debugBundle));
  await page.getByText("A file from 20").waitFor();
  const calls: string[] = [];
  page.on("request", (request) => request.url().includes("/graphql") && calls.push(request.url()));

  await page.getByText("step pay (keyed_effect) failed: <b>no</b> account (TOOL_FAILED)").waitFor();
  await expect.poll(() => page.locator(".react-flow__edge").count()).toBe(2);
  await page.locator(".step-box", { hasText: "pay" }).click();
  const inspector = page.getByRole("article", { name: "Step pay" });
  await inspector.getByRole("button", { name: "<<read>>" }).waitFor();
  await expectAccessible(page);
  for (const view of ["timeline", "steps", "journal", "model calls", "versions"]) {
    await page.getByRole("button", { name: view, exact: true }).click();
    await page.waitForURL(/view=/);
    await expectAccessible(page);
  }
  expect(calls).toEqual([]);
  await page.getByRole("button", { name: "Close the file" }).click();
  await page
    .getByRole("region", { name: "Requests" })
    .getByRole("link", { name: "Pay from a file" })
    .waitFor();
});

test("a file that is not a bundle is refused with a remedy; files can be chosen by keyboard too", async () => {
  const page = await system.open("/", "dark");
  const field = page.getByLabel("Open a bundle");
  await field.focus();
  await field.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no JSON") });
  await page.getByRole("alert").getByText("notes.txt is not a bundle").waitFor();
  await drop(page, '{"formatVersion":2,"requestId":7}');
  await page.getByRole("alert").getByText("bundle.json is not a bundle").waitFor();
  await drop(page, '{"formatVersion":1,"requestId":"req_1764000000_abcdefghij0123456789"}');
  await page.getByRole("alert").getByText("it was made by an older version of Planwright").waitFor();
  await drop(page, " ".repeat(1_000), 60_000);
  await page.getByRole("alert").getByText("bundle.json has 58 MiB; a bundle has at most 32").waitFor();
  await expectAccessible(page);
});

test("a file with changed records is closed again after its page failed", async () => {
  const requestId = await system.submit("A record to change", [
    { id: "read", tool: "read_value", arguments: { value: "one" } },
  ]);
  await system.expectStatus(requestId, "COMPLETED");
  const { debugBundle } = await createClient({ url: system.apiUrl }).execute(BUNDLE, { requestId });
  // The browser's log has the error, which fails the tests of other pages.
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const page = await (await browser.newContext()).newPage();
  await page.goto(new URL("/console/", system.apiUrl).href);
  await drop(page, JSON.stringify(debugBundle).replace(/"title":"[^"]*"/, '"title":{"text":1}'));
  await page.getByRole("alert").getByText("it is not what the service wrote").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Close the file" }).click();
  await page.getByRole("link", { name: "A record to change" }).waitFor();
});
