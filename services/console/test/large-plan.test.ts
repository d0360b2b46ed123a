/** A plan of 1,000 steps in a real browser: folded, readable, and usable by keyboard. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

/** Thirty chains of 33 reads from one start, and behind one of them a step that fails with what waits for it. */
function thousandSteps(): object[] {
  const read = (id: string, before: string) => ({
    id,
    tool: "noop",
    arguments: { value: 1 },
    dependsOn: [before],
  });
  const chains = Array.from({ length: 30 }, (_, chain) =>
    Array.from({ length: 33 }, (_step, index) =>
      read(`c${chain}s${index}`, index === 0 ? "start" : `c${chain}s${index - 1}`),
    ),
  );
  return [
    { id: "start", tool: "noop", arguments: { value: "go" } },
    ...chains.flat(),
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<c3s32>>" } },
    ...Array.from({ length: 8 }, (_, index) =>
      read(`after${index}`, index === 0 ? "pay" : `after${index - 1}`),
    ),
  ];
}

test("the graph of a thousand steps is folded, shows the failure, and opens and closes a fold", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no such account" }] });
  const requestId = await system.submit("A thousand steps", thousandSteps());
  await system.expectStatus(requestId, "FAILED");
  for (const scheme of ["light", "dark"] as const) {
    const page = await system.open(`/r/${requestId}`, scheme);
    await page.locator(".step-box", { hasText: "pay" }).waitFor();
    await expectAccessible(page);
  }
  const page = await system.open(`/r/${requestId}`);
  const panel = page.locator(".fold-panel");
  const nodes = async () => Number(/in (\d+) nodes/.exec(await panel.innerText())?.[1]);
  await panel.waitFor();
  const before = await nodes();
  expect(before).toBeLessThanOrEqual(150);
  await page.locator(".fold-box", { hasText: "8 skipped" }).press("Enter");
  await expect.poll(nodes).toBe(before + 7);
  await page.getByRole("button", { name: "Fold again" }).click();
  await expect.poll(nodes).toBe(before);
  await page.locator(".step-box", { hasText: "pay" }).click();
  await page.getByRole("article", { name: "Step pay" }).getByText("no such account").first().waitFor();
});
