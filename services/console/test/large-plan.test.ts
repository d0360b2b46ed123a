/** A plan of 1,000 steps in a real browser: folded, readable, and usable by keyboard. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";
import { thousandSteps } from "./thousand-steps.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

test("the graph of a thousand steps is folded, shows the failure, and opens and closes a fold", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no such account" }] });
  const requestId = await system.submit("A thousand steps", thousandSteps());
  await system.expectStatus(requestId, "FAILED");
  const page = await system.open(`/r/${requestId}`);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.locator(".step-box", { hasText: "pay" }).waitFor();
    await expectAccessible(page);
  }
  const panel = page.locator(".fold-panel");
  const nodes = async () => Number(/in (\d+) nodes/.exec(await panel.innerText())?.[1]);
  await panel.waitFor();
  expect(await panel.innerText()).toMatch(/^1,000 steps in /);
  await page.locator(".request-facts").getByText("1,000 steps: ").waitFor();
  const before = await nodes();
  expect(before).toBeLessThanOrEqual(150);
  await page.locator(".fold-box", { hasText: "8 skipped" }).press("Enter");
  await expect.poll(nodes).toBe(before + 7);
  await page.getByRole("button", { name: "Fold again" }).click();
  await expect.poll(nodes).toBe(before);
  await page.locator(".step-box", { hasText: "pay" }).click();
  await page.getByRole("article", { name: "Step pay" }).getByText("no such account").first().waitFor();
});
