/** The log lines with the id of a request show its history, over all services. */
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { type Processes, type System, startProcesses, startSystem } from "./system.ts";

let system: System | Processes;
afterEach(() => system.close());

const note = { id: "note", tool: "keyed_effect", arguments: { value: "one" } };
const tell = { id: "tell", tool: "plain_effect", arguments: { value: "two" }, dependsOn: ["note"] };
const stepsOf = (...steps: object[]) => ({
  type: "answer" as const,
  text: JSON.stringify({ steps, missing: null, impossible: null }),
});

/**
 * The log lines about a request, without times and names of processes. Each service has its lines in order;
 * an executor may log its claim before the planner logs that it planned.
 */
const storyOf = (requestId: string) =>
  system
    .logged(requestId)
    .toSorted((one, other) => Number(one.service === "executor") - Number(other.service === "executor"))
    .map(({ service, level, msg, step, tool, code, status }) =>
      [
        `${service} ${level}: ${msg}`,
        ...[step, tool, code, status].filter((fact) => fact !== undefined),
      ].join(" "),
    );

test("the log of a request whose plan failed covers all from the planner's claim to the failed step", async () => {
  system = await startSystem();
  system.tools.script({ plain_effect: [{ type: "tool-error", message: "the recipient is gone" }] });
  system.model.script(() => stepsOf(note, tell));
  await system.startPlanner();
  const requestId = await system.createPlan("Note one, then tell two");
  await system.until(requestId, ({ status }) => status === "FAILED");
  await expect
    .poll(() => storyOf(requestId), { timeout: 10_000 })
    .toEqual([
      "planner info: request claimed",
      "planner info: planned",
      "executor info: plan claimed",
      "executor warn: step failed tell plain_effect TOOL_FAILED",
      "executor warn: plan failed tell plain_effect TOOL_FAILED FAILED",
    ]);
  const { plan } = await system.until(requestId, () => true);
  expect(plan.steps).toMatchObject([{ status: "COMPLETED" }, { status: "FAILED" }]);
  const failed = system.logged(requestId).at(-1);
  expect(failed).toMatchObject({ requestId, reason: expect.stringContaining("the recipient is gone") });
  expect(system.loggedProblems()).toEqual([]);
});

test("a request that was not planned is a warning with its code and reason", async () => {
  system = await startSystem();
  system.model.script(() => ({ type: "answer", refusal: "I will not plan that." }));
  await system.startPlanner();
  const requestId = await system.createPlan("Note one, then tell two");
  await system.until(requestId, ({ status }) => status === "FAILED");
  await expect
    .poll(() => storyOf(requestId), { timeout: 10_000 })
    .toEqual(["planner info: request claimed", "planner warn: not planned MODEL_REFUSED"]);
  expect(system.logged(requestId).at(-1)?.["reason"]).toContain("I will not plan that.");
});

test("a request whose planner was killed is taken over, and the log names the previous planner", async () => {
  const processes = await startProcesses();
  system = processes;
  const asked = () => system.model.requests.length;
  system.model.script(() => ({ type: "hang" }));
  const first = await processes.startPlanner();
  const requestId = await system.createPlan("Note one, then tell two");
  await expect.poll(asked, { timeout: 30_000 }).toBe(1);
  const exit = once(first, "exit");
  first.kill("SIGKILL");
  await exit;
  system.model.script(() => stepsOf(note, tell));
  await system.startPlanner();
  await system.until(requestId, ({ status }) => status === "COMPLETED");
  await expect
    .poll(() => storyOf(requestId), { timeout: 10_000 })
    .toEqual([
      "planner info: request claimed",
      "planner info: request claimed",
      "planner warn: request taken over from a planner that did not release it",
      "planner info: planned",
      "executor info: plan claimed",
      "executor info: plan finished COMPLETED",
    ]);
  expect(system.logged(requestId)[2]).toMatchObject({ from: expect.stringContaining(`:${first.pid}:`) });
});
