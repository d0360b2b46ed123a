/** How a planner uses the context of a request: in prompts, in checks, after a crash, and in a replan. */
import { createDrafter, type Drafter } from "@planwright/models";
import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import type { GivenContext } from "@planwright/store";
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";

const text = { type: "string" };
const remind: ToolDescriptor = {
  name: "create_reminder",
  description: "Creates a reminder.",
  inputSchema: {
    type: "object",
    properties: { text, when: { ...text, format: "date-time" }, user_id: text },
    required: ["text", "when", "user_id"],
    additionalProperties: false,
  },
};
const QUERY = "Remind me tomorrow at 9 to call Bob";
/** A Saturday; daylight saving time ends in the following night. */
const CONTEXT: GivenContext = {
  now: new Date("2026-10-24T10:00:00Z"),
  timezone: "Europe/Berlin",
  facts: { userId: "u_17" },
};
const planFor = (when: string): JsonObject => ({
  steps: [{ id: "r", tool: "create_reminder", arguments: { text: "call Bob", when, user_id: "u_17" } }],
});
const RIGHT = "2026-10-25T09:00:00+01:00";

let server: ModelServer;
let drafter: Drafter;
beforeAll(async () => {
  server = await startModelServer();
  drafter = createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 });
});
afterAll(() => server.close());

async function plan(answers: JsonObject[], context: GivenContext | undefined = CONTEXT) {
  let asked = 0;
  server.script(() => answer(answers[Math.min(asked++, answers.length - 1)] ?? {}));
  const store = createMemoryPlanningStore({ query: QUERY, tools: [remind], ...(context && { context }) });
  await planInProcess(store, { drafter });
  return store;
}

test("a model sees time, place, facts and the meaning of dates in the request, and its plan is accepted", async () => {
  const store = await plan([planFor(RIGHT)]);
  const [call] = store.calls;
  expect(call?.messages[1]?.content).toContain(
    `<context>\nnow Sat 2026-10-24T12:00:00+02:00 Europe/Berlin\nfacts {"userId":"u_17"}\n"tomorrow at 9" = ${RIGHT}\n</context>\n<request>`,
  );
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ arguments: { when: RIGHT, user_id: "u_17" } }]);
  expect(store.calls).toHaveLength(1);
});

test("a date that contradicts the request is repaired with the right one", async () => {
  // As if daylight saving time had not ended.
  const store = await plan([planFor("2026-10-25T09:00:00+02:00"), planFor(RIGHT)]);
  expect(store.calls.map(({ purpose }) => purpose)).toEqual(["draft", "repair"]);
  expect(store.calls[1]?.messages.at(-1)?.content).toContain("ARGUMENT_DATE");
  expect(store.calls[1]?.messages.at(-1)?.content).toContain(RIGHT);
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ arguments: { when: RIGHT } }]);
});

test("without facts the same id counts as made up, and the user is asked for it", async () => {
  const { now, timezone } = CONTEXT;
  const store = await plan([planFor(RIGHT)], { now: now!, timezone: timezone! });
  expect(store.request).toMatchObject({
    status: "NEEDS_INPUT",
    questions: [{ question: expect.stringContaining("user_id") }],
  });
});

test("without a context tomorrow is the day after the request was accepted, in UTC", async () => {
  const store = createMemoryPlanningStore({
    query: "Remind u_17 tomorrow at 9 to call Bob",
    tools: [remind],
  });
  server.script(() => answer(planFor("1970-01-02T09:00:00Z")));
  await planInProcess(store, { drafter });
  expect(store.plans).toHaveLength(1);
  expect(store.calls[0]?.messages[1]?.content).toContain('"tomorrow at 9" = 1970-01-02T09:00:00Z');
});

test("the planner that takes over from a dead one asks the same question, and uses the recorded answer", async () => {
  let asked = 0;
  server.script(() => (asked++, answer(planFor(RIGHT))));
  const store = createMemoryPlanningStore({ query: QUERY, tools: [remind], context: CONTEXT });
  const dying = { ...store, completePlanning: () => Promise.reject(new TypeError("died")) };
  await expect(planInProcess(dying, { drafter })).rejects.toThrow("died");
  store.request.lease = null;
  await planInProcess(store, { drafter });
  expect(asked).toBe(1);
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ arguments: { when: RIGHT } }]);
});
