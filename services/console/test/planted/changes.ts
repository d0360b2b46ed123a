import { createClient, graphql } from "@planwright/client";
import { expect } from "vitest";
import { type ChangingServer, plainTool } from "../../../../packages/tools/test/changing-server.ts";
import { act, expectInSight, ONCE, type PlantedSystem, type Problem, press, RERUN, read } from "./acts.ts";

const EXECUTE = graphql(`mutation ($requestId: ID!) { executePlan(requestId: $requestId) { requestId } }`);
const REPLAN = graphql(`mutation ($requestId: ID!) { replan(requestId: $requestId) { requestId } }`);
const TOOLS = graphql(`{ getAvailableTools { name } }`);

const READS = { annotations: { readOnlyHint: true } };

/** The tools of the renaming server before the tool is renamed. */
export const OLD_TOOLS = [plainTool("find_person", READS)];

/** A plan whose tool has another name when the plan is executed. */
async function plantRenamedTool(system: PlantedSystem, server: ChangingServer): Promise<string> {
  const client = createClient({ url: system.apiUrl });
  const requestId = await system.submit(
    "Find a person",
    [read(1), { id: "find", tool: "find_person", dependsOn: ["look"], retry: ONCE }],
    false,
  );
  server.tools = [plainTool("find_persons", READS)];
  server.notify();
  await expect
    .poll(async () => (await client.execute(TOOLS, {})).getAvailableTools.map(({ name }) => name))
    .toContain("find_persons");
  await client.execute(EXECUTE, { requestId });
  return requestId;
}

/** A plan that failed at its last step, and a model's new version that failed before that step. */
async function plantWorseVersion(system: PlantedSystem): Promise<string> {
  const pay = act("<<look.value>>");
  const failure = (message: string) => [{ type: "tool-error" as const, message }];
  system.tools.script({ keyed_effect: failure("the till is closed") });
  const requestId = await system.submit("Look and pay", [read(1), pay]);
  await system.expectStatus(requestId, "FAILED");
  system.tools.script({ read_value: failure("there is no such list") });
  const check = { ...read("list", "check"), dependsOn: ["look"], retry: ONCE };
  const steps = [read(1), check, { ...pay, dependsOn: ["check"] }];
  system.model.script(() => ({ type: "answer", text: JSON.stringify({ steps }) }));
  await createClient({ url: system.apiUrl }).execute(REPLAN, { requestId });
  await system.expectStatus(requestId, "FAILED", 2);
  return requestId;
}

/** Kills the executor during the call of a plan, twice; the third executor makes the call too. */
async function plantLostExecutors(system: PlantedSystem): Promise<string> {
  const { tools } = system;
  const calls = () => tools.stats()["read_value"]?.calls ?? 0;
  const before = calls();
  tools.script({ read_value: [1, 2, 3].map(() => ({ type: "hang" as const })) });
  const requestId = await system.submit("Read what crashes its executors", [
    { ...read(1), timeoutMs: 600_000 },
  ]);
  for (const call of [1, 2, 3]) {
    if (call > 1) await system.restartExecutor();
    await expect.poll(calls).toBe(before + call);
  }
  return requestId;
}

/** Versions that did worse, tools that were removed, and executors that were lost. */
export const changesOf = (server: () => ChangingServer): Problem[] => [
  {
    name: "a tool was renamed",
    plant: (system) => plantRenamedTool(system, server()),
    cause: "No server offers find_person right now; the nearest name is find_persons.",
    action: "Call find_persons instead",
    act: (page) => press(page, "Call find_persons instead"),
    end: ["COMPLETED", 2],
  },
  {
    name: "a replan made it worse",
    plant: plantWorseVersion,
    version: 2,
    cause: "Version 2 did worse than version 1: 2 of 3 steps did not complete",
    action: "Go back to version 1",
    act: (page) => press(page, "Go back to version 1"),
    end: ["COMPLETED", 3],
  },
  {
    name: "the lease was lost twice",
    plant: plantLostExecutors,
    planted: "EXECUTING",
    cause: "2 executors that held the plan were lost one after another",
    action: "Cancel",
    async act(page) {
      await press(page, "Cancel");
      await press(page, "Cancel the request");
      await expectInSight(page, "the plan was cancelled");
      await press(page, RERUN);
    },
    end: ["COMPLETED", 2],
  },
];
