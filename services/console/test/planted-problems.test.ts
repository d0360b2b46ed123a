/**
 * Causes faults in the running system. A user who opens the request sees the cause and the action on the
 * first screen and performs the action there, and the request ends as expected.
 */
import { startWholeSystem, testAndProof } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChangingServer, startChangingServer } from "../../../packages/tools/test/changing-server.ts";
import { openConsole, SCREEN } from "./console-system.ts";
import { expectInSight, type PlantedSystem } from "./planted/acts.ts";
import { changesOf, OLD_TOOLS } from "./planted/changes.ts";
import { DECISIONS } from "./planted/decisions.ts";
import { FAILED_CALLS } from "./planted/failed-calls.ts";
import { MAIL_TOOL, PLANNING } from "./planted/planning.ts";

let system: PlantedSystem;
let server: ChangingServer;
beforeAll(async () => {
  server = await startChangingServer(OLD_TOOLS);
  const mcpServers = { renaming: { url: server.url, trusted: true } };
  // As processes: an executor is killed.
  system = await openConsole(startWholeSystem({ tools: [MAIL_TOOL], mcpServers }));
  await system.startPlanner({ MODEL_MAX_RETRIES: "0", MODEL_MAX_OUTPUT_TOKENS: "2000" });
});
afterAll(async () => {
  await system?.close();
  await server?.close();
});

const PROBLEMS = [...FAILED_CALLS, ...DECISIONS, ...PLANNING, ...changesOf(() => server)];
/**
 * What the pages are asked to do is of five kinds: a failed call is shown, a decision is made, a doubt is resolved, a
 * sentence is written again, a plan is changed. `npm run proof` plants the others; each has a case in the terminal too.
 */
const IN_TEST = [
  "a tool refuses",
  "a call waits for an approval",
  "it is not known whether a call happened: it did",
  "the model declines: the sentence is written in other words",
  "a tool was renamed",
];

for (const { cases, options } of testAndProof(PROBLEMS, ({ name }) => name, IN_TEST))
  test.for(cases)(
    "$name",
    options,
    async ({ script, steps = [], execute, plant, planted = "FAILED", version, cause, action, ...then }) => {
      if (script) system.tools.script(script);
      const requestId = plant ? await plant(system) : await system.submit(then.name, steps, execute);
      await system.expectStatus(requestId, planted, version);
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
