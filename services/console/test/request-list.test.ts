/** The first page in a real browser: failures by cause, the list, and actions on many requests. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, SCHEMES, startConsole } from "./console-system.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

test("failures are grouped by cause, and a group is run again after its requests were listed", async () => {
  const failure = { type: "tool-error" as const, message: "no such account" };
  system.tools.script({ keyed_effect: [failure, failure] });
  const ids: string[] = [];
  for (const query of ["Pay the first invoice", "Pay the second invoice"]) {
    const requestId = await system.submit(query, [
      { id: "pay", tool: "keyed_effect", arguments: { value: query } },
    ]);
    await system.expectStatus(requestId, "FAILED");
    ids.push(requestId);
  }
  const page = await system.open("/");
  const group = page.getByRole("region", { name: "Failures" }).getByRole("listitem").first();
  await group.getByText("2", { exact: true }).waitFor();
  await group.getByText("Pay the second invoice").waitFor();
  await group.getByRole("button", { name: "Run again …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 requests would be run again").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("checkbox", { name: /first invoice/ }).uncheck();
  await dialog.getByRole("button", { name: "Run again 1 request" }).click();
  await dialog.getByText("1 request run again").waitFor();
  await system.expectStatus(ids[1] ?? "", "COMPLETED", 2);
  await system.expectStatus(ids[0] ?? "", "FAILED", 1);
  await page.keyboard.press("Escape");
  await group.getByText("1", { exact: true }).waitFor();
});

test("many requests are cancelled by the filter of the list; those that cannot be cancelled are not counted", async () => {
  const waiting = await Promise.all(
    ["one", "two", "three"].map((name) =>
      system.submit(`Sweep ${name}`, [{ id: "a", tool: "read_value" }], false),
    ),
  );
  await system.expectStatus(
    await system.submit("Sweep done", [{ id: "a", tool: "read_value" }]),
    "COMPLETED",
  );
  const page = await system.open("/");
  await page.getByRole("searchbox").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("Sweep");
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=Sweep/);
  await page.getByText("all of these …").click();
  await page.getByRole("button", { name: "Cancel …" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel" });
  await dialog.getByText("3 requests would be cancelled").waitFor();
  await dialog.getByRole("button", { name: "Cancel 3 requests" }).click();
  await dialog.getByText("3 requests cancelled").waitFor();
  for (const requestId of waiting) await system.expectStatus(requestId, "CANCELLED");
});

test("columns and the format of times are stored in the address", async () => {
  const requestId = await system.submit("With its id", [{ id: "a", tool: "read_value" }]);
  const page = await system.open("/?time=UTC");
  const row = page.getByRole("row").filter({ hasText: "With its id" });
  await row.getByText(/\d{2}:\d{2}:\d{2} UTC/).waitFor();
  await page.getByText("columns", { exact: true }).click();
  await page.getByRole("checkbox", { name: "id", exact: true }).check();
  await row.getByText(requestId).waitFor();
  await page.reload();
  await row.getByText(requestId).waitFor();
});

test("a list that is not live does not change until it is live again", async () => {
  await system.submit("There before", [{ id: "a", tool: "read_value" }]);
  const page = await system.open("/?live=off");
  await page.getByText("There before").first().waitFor();
  const later = await system.submit("Came later", [{ id: "a", tool: "read_value" }]);
  await system.expectStatus(later, "COMPLETED");
  const other = await system.open("/");
  await other.getByText("Came later").first().waitFor();
  expect(await page.getByText("Came later").count()).toBe(0);
  await page.getByRole("checkbox", { name: "live" }).check();
  await page.getByText("Came later").first().waitFor();
});

test("older requests are read while the list is scrolled, and only visible rows are drawn", async () => {
  for (let round = 0; round < 6; round += 1)
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        system.submit(`Long list ${round}-${index}`, [{ id: "a", tool: "read_value" }], false),
      ),
    );
  const page = await system.open("/?text=Long+list");
  await page.getByText("Long list 5-0").waitFor();
  const frame = page.getByRole("group", { name: "Requests, newest first" });
  await frame.focus();
  await expect
    .poll(async () => {
      await page.keyboard.press("End");
      return page.getByText("Long list 0-").count();
    })
    .toBeGreaterThan(0);
  await expect.poll(() => page.getByRole("table").getAttribute("aria-rowcount")).toBe("61");
  expect(await page.getByRole("row").count()).toBeLessThan(50);
});

test("a filter without matches shows a link to all requests", async () => {
  const page = await system.open("/?text=nothing+has+this");
  await page.getByText("No request matches.").waitFor();
  await page.getByRole("link", { name: "All requests" }).click();
  await page.getByRole("row").nth(1).waitFor();
});

for (const { cases, options } of SCHEMES)
  test.each(cases)("the first page is accessible in %s, with its menus open", options, async (scheme) => {
    system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no" }] });
    const requestId = await system.submit("Fails", [
      { id: "a", tool: "keyed_effect", arguments: { value: 1 } },
    ]);
    await system.expectStatus(requestId, "FAILED");
    const page = await system.open("/", scheme);
    await page.getByRole("region", { name: "Failures" }).waitFor();
    await page.getByRole("row").nth(1).waitFor();
    await page.getByText("all of these …").click();
    await expectAccessible(page);
  });
