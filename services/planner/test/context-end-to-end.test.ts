/**
 * Context, profile and policy through API, planner and executor as processes: first plan, repair, execution,
 * and replan.
 */
import type { ModelRequest } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type System, startSystem } from "./system.ts";

let system: System;
beforeEach(async () => {
  system = await startSystem();
});
afterEach(() => system.close());

/** Daylight saving time ends in the following night. */
const CONTEXT = {
  now: "2026-10-24T12:00:00+02:00",
  timezone: "Europe/Berlin",
  locale: "de-DE",
  facts: { userId: "u_17", password: "hunter2" },
};
const RIGHT = "2026-10-25T09:00:00+01:00";
const SUMMER_TIME = "2026-10-25T09:00:00+02:00";
const CREATE = `mutation ($query: String!, $context: ContextInput) {
  createPlan(query: $query, context: $context, profile: "orchestrator", policy: { maxParallel: 2, replannedEffects: "run" }, maxReplans: 1) { requestId }
}`;
const READ =
  "query ($id: ID!) { request(requestId: $id) { context { now timezone locale facts } policy plan { document steps { id resolvedArguments } } modelCalls { purpose } } }";

const steps = (...list: object[]) => ({
  type: "answer" as const,
  text: JSON.stringify({ steps: list, missing: null, impossible: null }),
});
const note = (value: string) => ({ id: "note", tool: "plain_effect", arguments: { value } });
const tell = { id: "tell", tool: "keyed_effect", arguments: { value: "u_17" }, dependsOn: ["note"] };
const promptOf = ({ body }: ModelRequest): string =>
  JSON.parse(JSON.stringify(body["messages"]))[1]?.content ?? "";

test("a request keeps its time and place, its facts and its policy from the first plan to the last", async () => {
  system.tools.script({ keyed_effect: [{ type: "tool-error", message: "not today" }] });
  let drafts = 0;
  system.model.script((request) => {
    if (promptOf(request).includes("<run>\n")) return steps({ ...tell, id: "again" });
    return steps(note(drafts++ === 0 ? SUMMER_TIME : RIGHT), tell);
  });
  await system.startPlanner({ REPLANNED_EFFECTS: "run" });
  const query = "Note tomorrow at 9, then tell my user id";
  const { createPlan } = await system.graphql(CREATE, { query, context: CONTEXT });
  const { requestId } = createPlan;
  const request = await system.until(requestId, ({ status }) => status === "COMPLETED");
  expect(request.plans).toMatchObject([{ version: 2, status: "COMPLETED" }, { version: 1 }]);
  const { request: read } = await system.graphql(READ, { id: requestId });
  expect(read.modelCalls.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
    "draft",
    "repair",
    "replan",
  ]);
  expect(read.context).toEqual({ ...CONTEXT, now: "2026-10-24T10:00:00.000Z" });
  const policy = { profile: "orchestrator", maxParallel: 2, replannedEffects: "run" };
  expect(read.policy).toEqual(policy);
  expect(read.plan.document.policy).toMatchObject({ ...policy, mergeDependencyOutputs: true });
  expect(read.plan.steps[0].resolvedArguments).toEqual({ value: RIGHT });
  const contexts = system.model.requests.map(
    (each) => /<context>\n[^]*<\/context>/.exec(promptOf(each))?.[0],
  );
  expect(contexts).toHaveLength(3);
  expect(new Set(contexts)).toEqual(
    new Set([
      `<context>\nnow Sat 2026-10-24T12:00:00+02:00 Europe/Berlin de-DE\nfacts {"userId":"u_17"}\n"tomorrow at 9" = ${RIGHT}\n</context>`,
    ]),
  );
});
