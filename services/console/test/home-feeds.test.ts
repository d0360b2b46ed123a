/**
 * The connections of the first page: over HTTP/1.1 a browser allows six connections to a service for all
 * windows.
 */
import { afterAll, beforeAll, test } from "vitest";
import { type ConsoleSystem, startConsole } from "./console-system.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

test("three windows with the first page are live at once", async () => {
  const first = await system.open("/");
  const pages = [first, await first.context().newPage(), await first.context().newPage()];
  for (const page of pages.slice(1)) await page.goto(first.url());
  const requestId = await system.submit("Ask before the transfer", [
    { id: "transfer", tool: "keyed_effect", arguments: { value: 1 }, approval: true },
  ]);
  for (const page of pages)
    await page.getByRole("link", { name: "look and approve: Ask before the transfer" }).waitFor();
  await first.goto(new URL(`/console/r/${requestId}`, system.apiUrl).href);
  await first.getByRole("button", { name: "Look at the call and decide" }).click();
  await first.getByRole("button", { name: "Approve: the tool is called" }).click();
  for (const page of pages.slice(1))
    await page
      .getByRole("link", { name: "look and approve: Ask before the transfer" })
      .waitFor({ state: "detached" });
});
