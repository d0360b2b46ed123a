/**
 * Faults are planted in the running system. A person who opens the request sees the cause and the action on the
 * first screen, performs the action there, and the request ends as it should.
 */
import { createClient, graphql } from "@planwright/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, SCREEN, startConsole } from "./console-system.ts";
import { expectInSight } from "./planted/acts.ts";
import { DECISIONS } from "./planted/decisions.ts";
import { FAILED_CALLS } from "./planted/failed-calls.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
  await system.startPlanner({ MODEL_MAX_RETRIES: "0" });
});
afterAll(() => system?.close());

test.each([...FAILED_CALLS, ...DECISIONS])(
  "$name",
  async ({ script, steps, execute, planted = "FAILED", cause, action, ...then }) => {
    if (script) system.tools.script(script);
    const requestId = await system.submit(then.name, steps, execute);
    await system.expectStatus(requestId, planted);
    const page = await system.open(`/r/${requestId}`);
    await expectInSight(page, cause);
    const button = page.getByRole("button", { name: action, exact: true }).first();
    await button.waitFor();
    await expect
      .poll(async () => {
        const box = await button.boundingBox();
        return box !== null && box.y >= 0 && box.y + box.height <= SCREEN.height;
      })
      .toBe(true);
    await then.act(page, requestId, system.apiUrl);
    await system.expectStatus(requestId, ...then.end);
  },
);

const CREATE = graphql(
  `mutation ($query: String!) { createPlan(query: $query, maxReplans: 0) { requestId } }`,
);

test("the model declines: the cause is its own words", async () => {
  system.model.script(() => ({ type: "answer", refusal: "I will not plan that." }));
  const client = createClient({ url: system.apiUrl });
  const { createPlan } = await client.execute(CREATE, { query: "Do what the model declines" });
  await system.expectStatus(createPlan.requestId, "FAILED");
  const page = await system.open(`/r/${createPlan.requestId}`);
  await expectInSight(page, "I will not plan that.");
  await expectInSight(page, "(MODEL_REFUSED)");
});
