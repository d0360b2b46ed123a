/**
 * The console in a real browser, with the complete system: what a user sees first, and what the buttons do.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ConsoleSystem,
  expectAccessible,
  expectInSight,
  SCHEMES,
  startConsole,
} from "./console-system.ts";

/** An answer of a tool that would run a script if it were read as HTML. */
const HOSTILE = `<img src=x onerror="document.title='hacked'"> עברית`;

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

test("a failure shows its cause and its action on the first screen, and can be run again; a tool's message stays text", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: HOSTILE }] });
  const requestId = await system.submit("Pay the invoice", [
    { id: "pay", tool: "keyed_effect", arguments: { value: 1 } },
    { id: "after", tool: "read_value", arguments: { value: "<<pay>>" } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const page = await system.open(`/r/${requestId}`);
  await expectInSight(page, "step pay (keyed_effect) failed");
  await expectInSight(page, "Run again what did not complete");
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.title()).toBe("Pay the invoice · failed · Planwright");
  await page.getByRole("button", { name: "Run again what did not complete" }).click();
  await system.expectStatus(requestId, "COMPLETED", 2);
  await page.getByLabel("version").waitFor();
});

test("an approval is found on the first page, shows the exact arguments, and is given there", async () => {
  const requestId = await system.submit("Transfer what needs a look", [
    { id: "transfer", tool: "keyed_effect", arguments: { value: "to Alice" }, approval: true },
  ]);
  const page = await system.open("/");
  await page.getByRole("link", { name: "look and approve: Transfer what needs a look" }).click();
  await page.getByRole("button", { name: "Look at the call and decide" }).click();
  await page.getByRole("region", { name: "Approval" }).getByText("to Alice").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Approve: the tool is called" }).click();
  await system.expectStatus(requestId, "COMPLETED");
});

test("a call in doubt is settled only after its step's key was typed", async () => {
  system.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  const requestId = await system.submit("Send a letter once", [
    { id: "send", tool: "plain_effect", arguments: { value: 1 } },
  ]);
  const page = await system.open(`/r/${requestId}`);
  await page.getByRole("button", { name: "Look at the call and say what happened" }).click();
  const happened = page.getByRole("button", { name: "It happened: continue with this output" });
  expect(await happened.isDisabled()).toBe(true);
  await expectAccessible(page);
  await page.getByLabel("to confirm").fill("send");
  await page.getByLabel("What the call returned").fill("sent");
  await happened.click();
  await page.getByText("This is not JSON").waitFor();
  await page.getByLabel("What the call returned").fill('{"sent":true}');
  await happened.click();
  await system.expectStatus(requestId, "COMPLETED");
});

for (const { cases, options } of SCHEMES)
  test.each(cases)("every view is accessible in %s", options, async (scheme) => {
    const requestId = await system.submit(
      "Read three values, then one more",
      [
        ...["a", "b", "c"].map((id) => ({ id, tool: "read_value", arguments: { value: id } })),
        { id: "sum", tool: "read_value", arguments: { value: ["<<a>>", "<<b>>", "<<c>>"] } },
        {
          id: "each",
          tool: "read_value",
          forEach: { items: [1, 2], as: "it", do: { tool: "read_value", arguments: { value: "<<it>>" } } },
        },
      ].map(({ tool, ...step }) => ("forEach" in step ? step : { tool, ...step })),
    );
    await system.expectStatus(requestId, "COMPLETED");
    const page = await system.open(`/r/${requestId}`, scheme);
    await page.locator(".result").first().waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "graph", exact: true }).click();
    await page.locator(".step-box").first().waitFor();
    await expectAccessible(page);
    for (const view of ["timeline", "steps", "journal", "model calls"]) {
      await page.getByRole("button", { name: view, exact: true }).click();
      await page.waitForURL(/view=/);
      await expectAccessible(page);
    }
    await page.goto(new URL("/console/", system.apiUrl).href);
    await page.getByText("Read three values, then one more").first().waitFor();
    await expectAccessible(page);
  });

test("steps are selected by the keyboard, and the address names the selected one", async () => {
  system.tools.script({ read_value: [{ type: "tool-error", message: "no" }] });
  const requestId = await system.submit("Two reads", [
    { id: "first", tool: "read_value", arguments: { value: 1 } },
    { id: "second", tool: "read_value", arguments: { value: 2 }, dependsOn: ["first"] },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const page = await system.open(`/r/${requestId}?view=steps`);
  await page.getByRole("row").first().waitFor();
  await page.keyboard.press("f");
  await page.waitForURL(/\/s\/first\?view=steps$/);
  await page.locator('[data-key="first"]').focus();
  await page.keyboard.press("j");
  await page.waitForURL(/\/s\/second\?view=steps$/);
  await page.getByRole("article", { name: "Step second" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/req_[^/]*\?view=steps$/);
});

test("an unknown address shows an error or a link to all requests", async () => {
  const page = await system.open("/r/req_1700000000_abcdefghijklmnopqrst");
  await page.getByRole("alert").getByText("NOT_FOUND").waitFor();
  await page.goto(new URL("/console/nowhere", system.apiUrl).href);
  await page.getByRole("link", { name: "All requests" }).waitFor();
});
