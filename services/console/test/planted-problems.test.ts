/**
 * Faults are planted in the running system. A person who opens the request sees the cause and the action on the
 * first screen, performs the action there, and the request ends as it should.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleSystem, SCREEN, startConsole } from "./console-system.ts";
import { expectInSight } from "./planted/acts.ts";
import { DECISIONS } from "./planted/decisions.ts";
import { FAILED_CALLS } from "./planted/failed-calls.ts";
import { MAIL_TOOL, PLANNING } from "./planted/planning.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole({ tools: [MAIL_TOOL] });
  await system.startPlanner({ MODEL_MAX_RETRIES: "0", MODEL_MAX_OUTPUT_TOKENS: "2000" });
});
afterAll(() => system?.close());

test.each([...FAILED_CALLS, ...DECISIONS, ...PLANNING])(
  "$name",
  async ({ script, steps = [], execute, plant, planted = "FAILED", cause, action, ...then }) => {
    if (script) system.tools.script(script);
    const requestId = plant ? await plant(system) : await system.submit(then.name, steps, execute);
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
    const shown = /req_[a-z0-9_]+/.exec(page.url())?.[0] ?? requestId;
    await system.expectStatus(shown, ...then.end);
  },
);
