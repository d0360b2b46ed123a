/** The page of one request in a real browser, on the whole system: versions, moments, graph, timeline, inspector. */
import { createClient, graphql } from "@planwright/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, startConsole } from "./console-system.ts";

const RERUN = graphql(`
  mutation ($requestId: ID!, $fromVersion: Int!) {
    rerun(requestId: $requestId, fromVersion: $fromVersion) { requestId }
  }
`);

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

const rerun = (requestId: string, fromVersion: number) =>
  createClient({ url: system.apiUrl }).execute(RERUN, { requestId, fromVersion });

test("a version that is made while the page is open is offered without a reload", async () => {
  system.tools.script({
    keyed_effect: [1, 2, 3].map(() => ({ type: "tool-error" as const, message: "no" })),
  });
  const requestId = await system.submit("Pay until it works", [
    { id: "pay", tool: "keyed_effect", arguments: { value: 1 } },
  ]);
  await system.expectStatus(requestId, "FAILED");
  await rerun(requestId, 1);
  await system.expectStatus(requestId, "FAILED", 2);
  const page = await system.open(`/r/${requestId}`);
  const options = page.getByLabel("version").locator("option");
  await expect.poll(() => options.allTextContents()).toEqual(["2 failed", "1 failed"]);
  await rerun(requestId, 2);
  await expect.poll(() => options.allTextContents()).toEqual(["3 failed", "2 failed", "1 failed"]);
});
