import { createDrafter, type Drafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { NO_SPENDING, NO_USE, type RequestDocument } from "@planwright/store";
import { answer, type ModelServer, type ScriptedReply, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createPlanningGraph } from "../src/graph/planning-graph.ts";
import { initialState } from "../src/graph/planning-state.ts";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";

let server: ModelServer;
let model: Drafter;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  model = createDrafter({ MODEL: "openai:test", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 });
});
afterAll(() => server.close());

const weather: ToolDescriptor = {
  name: "get_weather",
  description: "Returns the current weather in a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", maximum: 10 } },
    required: ["city"],
    additionalProperties: false,
  },
};
const QUERY = "What is the weather in Oslo?";
const PLAN: JsonObject = { steps: [{ id: "get_weather", tool: "get_weather", arguments: { city: "Oslo" } }] };
const called = (args: JsonObject): ScriptedReply => ({
  type: "answer",
  toolCalls: [{ name: "get_weather", arguments: args }],
});

/** Plans a request whose direct call gets one reply and whose drafts get another. */
async function plan(input: {
  direct?: ScriptedReply;
  query?: string;
  drafter?: Drafter;
  answers?: RequestDocument["answers"];
  maxModelCalls?: number;
  /** Calls of planners that died. */
  lost?: number;
}) {
  const { direct = called({ city: "Oslo" }), query = QUERY, drafter = model, answers = [], lost = 0 } = input;
  const asked: string[] = [];
  server.script(({ body }) => {
    const isDirect = body["tools"] !== undefined;
    asked.push(isDirect ? "direct" : "draft");
    return isDirect ? direct : answer(PLAN);
  });
  const store = createMemoryPlanningStore({ query, tools: [weather] });
  const claim = await store.claimRequest(store.request._id, "test");
  if (!claim) return expect.unreachable();
  const { maxModelCalls = null } = input;
  const modelLimits = { maxModelCalls, maxTokens: null, maxCostUsd: null };
  const reserved = { ...NO_SPENDING, modelCalls: lost };
  Object.assign(claim.request, { answers, modelLimits, modelUse: { ...NO_USE, reserved } });
  await createPlanningGraph({ store, drafter }).invoke(initialState(claim));
  return { asked, store, steps: store.plans[0]?.plan?.steps };
}

test("one plain call costs one small model call, and becomes the plan", async () => {
  const { asked, store, steps } = await plan({});
  expect(asked).toEqual(["direct"]);
  expect(steps).toMatchObject([{ tool: "get_weather", arguments: { city: "Oslo" } }]);
  expect(store.calls).toMatchObject([{ purpose: "draft", model: "openai:test", error: null }]);
  expect(store.plans[0]?.origin).toEqual({ kind: "model", model: "openai:test" });
});

test.each<[string, ScriptedReply]>([
  ["no call", { type: "answer", text: "PLAN" }],
  ["an argument that the schema does not allow", called({ city: "Oslo", country: "Oslo" })],
  ["an invented value", called({ city: "Oslo", days: 7 })],
  ["a refusal", { type: "answer", text: "", refusal: "I will not" }],
  ["an answer that was cut off", { ...answer("x"), finishReason: "length" }],
  ["tools that the server does not take", { type: "error", status: 400 }],
])("%s: the request is planned", async (_, direct) => {
  const { asked, steps } = await plan({ direct });
  expect(asked).toEqual(["direct", "draft"]);
  expect(steps).toMatchObject([{ tool: "get_weather", arguments: { city: "Oslo" } }]);
});

test.each([
  ["links one call to another", { query: "What is the weather in Oslo, and is it worse than that in Rome?" }],
  [
    "was asked about",
    {
      answers: [{ questionId: "q1", question: "Which city?", answer: "Oslo", at: new Date(0), gives: null }],
    },
  ],
  ["may cost one call only", { maxModelCalls: 1 }],
  ["may cost one more call only, beside one of a planner that died", { maxModelCalls: 2, lost: 1 }],
])("a request that %s is planned at once", async (_, input) => {
  expect((await plan(input)).asked).toEqual(["draft"]);
});

test("an error of the provider ends planning as for any draft", async () => {
  const { asked, store } = await plan({ direct: { type: "error", status: 401 } });
  expect(asked).toEqual(["direct"]);
  expect(store.failures[0]?.error.code).toBe("MODEL_UNAUTHORIZED");
});

test("the offline drafter has no direct path", async () => {
  const { asked, steps } = await plan({ drafter: createOfflineDrafter(), query: "Get the weather in Oslo" });
  expect(asked).toEqual([]);
  expect(steps).toMatchObject([{ tool: "get_weather", arguments: { city: "Oslo" } }]);
});
