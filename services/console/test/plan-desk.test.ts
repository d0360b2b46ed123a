/**
 * The plan desk in a real browser with the complete system: a plan is written, checked, changed and executed.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, expectAccessible, SCHEMES, startConsole } from "./console-system.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
  await system.startPlanner();
});
afterAll(() => system?.close());

/** Replaces the text of the editor, as a user does who pastes it. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Plan as JSON" });
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

function planOf(...steps: object[]): string {
  return JSON.stringify({ steps }, null, 2);
}

/** The id of the request that the address names. */
function requestOf(page: Page): string {
  return /req_[a-z0-9_]+/.exec(page.url())?.[0] ?? "";
}

test("a plan is checked while it is written, drawn beside the text, and executed when it is submitted", async () => {
  const page = await system.open("/desk");
  await write(page, planOf({ id: "first", tool: "read_valu", arguments: { value: 1 } }));
  const diagnostics = page.getByRole("region", { name: "Diagnostics" });
  await diagnostics.getByText("TOOL_UNKNOWN").waitFor();
  await page.locator(".cm-lintRange-error").first().waitFor();
  expect(await page.getByRole("button", { name: "Submit and execute" }).isDisabled()).toBe(true);
  await diagnostics.getByRole("button", { name: "steps[0].tool" }).click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.insertText('"tool": "read_value",');
  await diagnostics.getByText("It can run").waitFor();
  await page.locator(".step-box", { hasText: "first" }).waitFor();
  await page.getByLabel("What it is for").fill("Read one value");
  await page.getByRole("button", { name: "Submit and execute" }).click();
  await page.waitForURL(/\/r\/req_/);
  await system.expectStatus(requestOf(page), "COMPLETED");
});

test("every step of a long plan is drawn, also where the browser is slow", async () => {
  const page = await system.open("/desk");
  const slow = await page.context().newCDPSession(page);
  await slow.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const value = Array.from({ length: 120 }, (_, index) => index);
  // Of more than 60 nodes only the visible ones are drawn.
  const ids = Array.from({ length: 50 }, (_, index) => `step_${index}`);
  // In one line: a browser takes minutes to type thousands of lines.
  const steps = ids.map((id) => ({ id, tool: "read_value", arguments: { value } }));
  await write(page, JSON.stringify({ steps }));
  await expect.poll(() => page.locator(".step-box").count(), { timeout: 60_000 }).toBe(ids.length);
});

test("completion offers the fields of a step, the tools and the outputs of other steps", async () => {
  const page = await system.open("/desk");
  await write(page, planOf({ id: "first", tool: "read_value", arguments: { value: 1 } }, { id: "second" }));
  await page.keyboard.press("Control+End");
  // Clicked, because the editor ignores Enter directly after the list has opened.
  const options = page.getByRole("option");
  await page.locator(".cm-line", { hasText: '"second"' }).click();
  await page.keyboard.press("End");
  await page.keyboard.type(', "too');
  await options.filter({ hasText: "tool" }).click();
  await page.keyboard.type("keyed");
  await options.filter({ hasText: "keyed_effect" }).first().click();
  await page.keyboard.type(', "arg');
  await options.filter({ hasText: "arguments" }).click();
  await page.keyboard.type('"value": "<<fi');
  await options.filter({ hasText: "<<first>>" }).click();
  await page.getByText("It can run").waitFor();
  const text = await page.locator(".cm-content").innerText();
  expect(text.replaceAll(/\s/g, "")).toContain(
    '{"id":"second","tool":"keyed_effect","arguments":{"value":"<<first>>"}}',
  );
});

test("a stored plan is executed only after the user starts it", async () => {
  const page = await system.open("/desk");
  await write(page, planOf({ id: "look", tool: "keyed_effect", arguments: { value: "looked at" } }));
  await page.getByRole("button", { name: "Store without executing" }).click();
  await page.waitForURL(/\/desk\/req_/);
  const requestId = requestOf(page);
  await system.expectStatus(requestId, "READY");
  await page.getByRole("button", { name: "Execute exactly this plan" }).click();
  await system.expectStatus(requestId, "COMPLETED");
});

test("a failed plan is corrected at the desk: completed steps are carried over, and a note names them", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no such account" }] });
  const requestId = await system.submit("Pay from the wrong account", [
    { id: "read", tool: "read_value", arguments: { value: 1 } },
    { id: "pay", tool: "keyed_effect", arguments: { value: "wrong", from: "<<read>>" } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const page = await system.open(`/r/${requestId}`);
  await page.getByRole("button", { name: "Change the plan at the desk" }).click();
  await page.waitForURL(new RegExp(`/desk/${requestId}$`));
  await page.locator(".cm-line", { hasText: '"wrong"' }).click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.insertText('"value": "right",');
  await page.locator(".step-box.is-carried", { hasText: "read" }).waitFor();
  await page.getByRole("button", { name: "Store and execute" }).click();
  await page.getByText("Carried over, never called again: read").waitFor();
  await system.expectStatus(requestId, "COMPLETED", 2);
  await page.getByText("version 2 is open").waitFor();
});

test("a suggestion is written by a click, and the effects of the plan are listed before it is executed", async () => {
  const page = await system.open("/desk");
  await write(
    page,
    planOf(
      { id: "first", tool: "read_valu", arguments: { value: 1 } },
      { id: "pay", tool: "keyed_effect", arguments: { value: "<<first>>" }, approval: true },
      {
        id: "all",
        forEach: { items: [1, 2, 3], do: { tool: "plain_effect", arguments: { value: "<<item>>" } } },
      },
    ),
  );
  await page.getByRole("button", { name: "Write read_value" }).click();
  await page.getByText("It can run").waitFor();
  await page
    .getByText(
      "Calls with effects: keyed_effect once; plain_effect up to 3 times. 1 approval is asked for first.",
    )
    .waitFor();
});

test("a text that was not sent is there again after a look at another page, and leaving asks", async () => {
  const requestId = await system.submit("Kept text", [{ id: "a", tool: "read_value" }], false);
  const page = await system.open(`/desk/${requestId}`);
  await page.locator(".cm-line", { hasText: '"a"' }).waitFor();
  await write(page, planOf({ id: "written", tool: "read_value" }));
  await page.locator(".step-box", { hasText: "written" }).waitFor();
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.getByRole("region", { name: "Executors" }).waitFor();
  await page.goBack();
  await page.locator(".cm-line", { hasText: '"written"' }).waitFor();
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  await page.locator(".cm-line", { hasText: '"written"' }).waitFor();
  expect(asked).toEqual(["beforeunload"]);
  await page.getByRole("button", { name: "Discard it" }).click();
  await page.locator(".cm-line", { hasText: '"a"' }).waitFor();
});

test("the desk of a failed request opens at the failed step, with its error", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "no such account" }] });
  const steps = Array.from({ length: 12 }, (_, index) => ({
    id: `read${index}`,
    tool: "read_value",
    arguments: { value: index },
  }));
  const requestId = await system.submit("Pay after many reads", [
    ...steps,
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<read11>>" } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  const page = await system.open(`/desk/${requestId}`);
  await page.getByText("Step pay failed: no such account").waitFor();
  await page.locator(".cm-line", { hasText: '"pay"' }).waitFor();
  // Its graph shows how it was executed.
  await page.locator(".step-box-error", { hasText: "no such account" }).waitFor();
});

test("a version that was replaced meanwhile is not overwritten", async () => {
  const requestId = await system.submit("To be changed twice", [{ id: "a", tool: "read_value" }], false);
  const [page, other] = [await system.open(`/desk/${requestId}`), await system.open(`/desk/${requestId}`)];
  for (const each of [page, other]) await each.getByText("It can run").waitFor();
  await write(other, planOf({ id: "b", tool: "read_value" }));
  await other.getByRole("button", { name: "Store as version 2" }).click();
  await other.getByText("Version 2 is stored").waitFor();
  await page.getByText("Version 2 was stored since").waitFor();
  await page.getByRole("button", { name: "Open version 2" }).click();
  await page.locator(".cm-line", { hasText: '"b"' }).waitFor();
});

test("a sentence is drafted live and its plan opens in the editor; nothing is executed", async () => {
  const text = planOf(
    { id: "read", tool: "read_value", arguments: { value: "drafted" } },
    { id: "again", tool: "read_value", arguments: { value: "<<read>>" } },
  );
  // The model holds the second step and the end back, so that the page can be looked at.
  const secondStep = held();
  const end = held();
  const chunkSize = text.indexOf('"again"');
  system.model.script(() => ({
    type: "answer",
    text,
    chunkSize,
    beforeEvent: async (event) => {
      if (event.includes("again")) await secondStep.released;
      if (event.includes("[DONE]")) await end.released;
    },
  }));
  const page = await system.open("/desk");
  await page.getByLabel("Sentence to plan").fill('Read the value "drafted"');
  await page.getByRole("button", { name: "Plan this sentence" }).click();
  await page.waitForURL(/\/desk\/req_/);
  const drafting = page.getByRole("region", { name: "Drafting" });
  await drafting.getByText("answers …").waitFor();
  await drafting.getByText("1 step so far").waitFor();
  await drafting.locator(".step-box", { hasText: "read_value" }).first().waitFor();
  await expectAccessible(page);
  secondStep.release();
  await drafting.getByText("2 steps so far").waitFor();
  end.release();
  await page.locator(".cm-line", { hasText: '"drafted"' }).waitFor();
  await system.expectStatus(requestOf(page), "READY");
});

/** Something that waits until it is released. */
function held(): { released: Promise<void>; release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { released, release };
}

test("model calls show the budget, each call, and the answer beside the plan that was read from it", async () => {
  let callCount = 0;
  system.model.script(() => {
    callCount += 1;
    const tool = callCount === 1 ? "read_valu" : "read_value";
    return {
      type: "answer",
      text: planOf({ id: "read", tool, arguments: { value: `answer ${callCount}` } }),
    };
  });
  const page = await system.open("/desk");
  await page.getByLabel("Sentence to plan").fill('Read the value "repaired"');
  await page.getByRole("button", { name: "Plan this sentence" }).click();
  await page.waitForURL(/\/desk\/req_/);
  await page.locator(".cm-line", { hasText: "answer 2" }).waitFor();
  await page.goto(new URL(`/console/r/${requestOf(page)}?view=model+calls`, system.apiUrl).href);
  await page.getByText(/^2 of \d+$/).waitFor();
  await expect.poll(() => page.locator(".model-calls > li").count()).toBe(2);
  const drafts = page.getByRole("region", { name: "What was read from the answers" });
  await drafts.getByText("Version 1: the answer and the plan").waitFor();
  await drafts.locator("pre", { hasText: "answer 2" }).waitFor();
  await drafts.getByText("The plan that was read from it").waitFor();
  await expectAccessible(page);
});

for (const { cases, options } of SCHEMES)
  test.each(cases)("the desk is accessible in %s, also with errors", options, async (scheme) => {
    const page = await system.open("/desk", scheme);
    await page.getByText("Write a plan").waitFor();
    await expectAccessible(page);
    await write(page, planOf({ id: "first", tool: "unknown", arguments: { a: [1, true, null, "x"] } }));
    await page.getByText("TOOL_UNKNOWN").waitFor();
    await page.locator(".step-box").waitFor();
    await expectAccessible(page);
  });

test("the desk of an unknown request shows NOT_FOUND", async () => {
  const page = await system.open("/desk/req_1700000000_abcdefghijklmnopqrst");
  await page.getByRole("alert").getByText("NOT_FOUND").waitFor();
});
