/** An open page while something else answers in place of the API, while an answer is lost, and while one is late. */
import { createClient, graphql } from "@planwright/client";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ConsoleSystem, startConsole } from "./console-system.ts";
import { sharedBrowser } from "./open-browser.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

/** Opens a page of the console. Console messages are not checked: the browser logs each call that fails. */
async function open(path: string, prepare: (page: Page) => Promise<unknown>): Promise<Page> {
  const context = await (await sharedBrowser()).newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  await prepare(page);
  await page.goto(new URL(`/console${path}`, system.apiUrl).href);
  return page;
}

const FIND = graphql(
  `query ($text: String!) { requests(first: 10, filter: { text: $text }) { nodes { requestId } } }`,
);

const CANCEL = graphql(`mutation ($requestId: ID!) { cancel(requestId: $requestId) { requestId } }`);

/** A request that waits for an approval. */
const waiting = () =>
  system.submit("Ask before the payment", [
    { id: "pay", tool: "keyed_effect", arguments: { value: 1 }, approval: true },
  ]);

const SIGN_IN_PAGE = { status: 403, contentType: "text/html", body: "<html>Sign in</html>" };

test("a page of a proxy in place of a feed is shown, and the feed is opened again", async () => {
  const requestId = await waiting();
  let isAway = true;
  const page = await open(`/r/${requestId}`, (opening) =>
    opening.route("**/graphql/stream", (route: Route) =>
      isAway ? route.fulfill(SIGN_IN_PAGE) : route.continue(),
    ),
  );
  await page.getByRole("alert").filter({ hasText: "NOT_THE_API" }).first().waitFor();
  isAway = false;
  await page.getByRole("button", { name: "Look at the call and decide" }).waitFor();
});

test("a command without an answer is not said to be tried again", async () => {
  const requestId = await waiting();
  const page = await open(`/r/${requestId}`, (opening) =>
    opening.route("**/graphql", (route: Route) =>
      route.request().postData()?.includes("mutation Pause") ? route.abort() : route.continue(),
    ),
  );
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const alert = page.getByRole("alert").filter({ hasText: "API_UNREACHABLE" }).first();
  await alert.waitFor();
  expect(await alert.innerText()).not.toContain("tried again automatically");
  expect(await alert.innerText()).toContain("not known whether");
});

test("a sentence whose answer was lost becomes one request when it is sent once more", async () => {
  const sentence = `Create author Alice with email alice-${Date.now()}@test.com`;
  let isLost = false;
  const page = await open("/", (opening) =>
    opening.route("**/graphql", async (route: Route) => {
      if (isLost || !route.request().postData()?.includes("mutation CreatePlan")) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    }),
  );
  await page.getByRole("textbox", { name: "What to do" }).fill(sentence);
  await page.getByRole("button", { name: "Plan it" }).click();
  await page.getByRole("alert").filter({ hasText: "it is not done twice" }).waitFor();
  await page.getByRole("button", { name: "Plan it" }).click();
  await page.waitForURL(/\/r\/req_/);
  const { requests } = await createClient({ url: system.apiUrl }).execute(FIND, { text: sentence });
  expect(requests.nodes).toHaveLength(1);
});

test("a part of the page without an answer is read again", async () => {
  const requestId = await system.submit("One read", [
    { id: "one", tool: "keyed_effect", arguments: { value: 1 } },
  ]);
  await system.expectStatus(requestId, "COMPLETED");
  let isAway = true;
  const page = await open(`/r/${requestId}?view=results`, (opening) =>
    opening.route("**/graphql", (route: Route) =>
      isAway && route.request().postData()?.includes("query Results") ? route.abort() : route.continue(),
    ),
  );
  await page.getByRole("alert").filter({ hasText: "tried again automatically" }).first().waitFor();
  isAway = false;
  await page.getByRole("article", { name: "Output one" }).waitFor();
});

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

/** Holds the answer to the first reading of a list until it is released. */
function heldList(filter: string) {
  const read = deferred();
  const released = deferred();
  let isRead = false;
  return {
    /** Resolves when the API has given the answer. */
    read: read.promise,
    async hold(route: Route): Promise<void> {
      const body = route.request().postData() ?? "";
      const isHeld = !isRead && body.includes("query Requests(") && body.includes(filter);
      if (!isHeld) return route.continue();
      isRead = true;
      const response = await route.fetch();
      read.resolve();
      await released.promise;
      await route.fulfill({ response });
    },
    /** Gives it to the page, and resolves when the page has drawn what came of it. */
    async release(page: Page): Promise<void> {
      const answered = page.waitForResponse((response) => response.url().endsWith("/graphql"));
      released.resolve();
      await (await answered).finished();
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    },
  };
}

test("a change that arrives while the list is read stays in the list", async () => {
  const submit = (name: string, execute: boolean) =>
    system.submit(`While it is read: ${name}`, [{ id: "a", tool: "read_value" }], execute);
  const requestId = await submit("to be cancelled", false);
  const list = heldList("while it is read");
  const page = await open("/?text=while+it+is+read", (opening) => opening.route("**/graphql", list.hold));
  await list.read;
  await createClient({ url: system.apiUrl }).execute(CANCEL, { requestId });
  await page.getByRole("row").filter({ hasText: "cancelled" }).waitFor();
  await submit("newer", true);
  await page.getByRole("row").filter({ hasText: "newer" }).filter({ hasText: "completed" }).waitFor();
  await list.release(page);
  const rows = await page.getByRole("row").allInnerTexts();
  expect(rows.slice(1).map((row) => row.split("\n").slice(0, 2))).toEqual([
    ["completed", "While it is read: newer"],
    ["cancelled", "While it is read: to be cancelled"],
  ]);
});

test("a late answer to an earlier filter does not replace the list of the present one", async () => {
  for (const name of ["Early bird", "Late bird"])
    await system.submit(name, [{ id: "a", tool: "read_value" }], false);
  const list = heldList("Early bird");
  const page = await open("/?text=Early+bird", (opening) => opening.route("**/graphql", list.hold));
  await list.read;
  await page.getByRole("searchbox").fill("Late bird");
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "Late bird" }).waitFor();
  await list.release(page);
  expect(await page.getByRole("row").filter({ hasText: "Late bird" }).count()).toBe(1);
  expect(await page.getByRole("row").filter({ hasText: "Early bird" }).count()).toBe(0);
});
