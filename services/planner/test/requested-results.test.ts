import { createDrafter } from "@planwright/models";
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { requestedResults } from "../src/jobs/planning-work.ts";
import { createMemoryPlanningStore, type MemoryPlanningStore } from "./memory-planning-store.ts";
import { recordOf, TOOLS } from "./past-plans.ts";
import { planInProcess } from "./plan-in-process.ts";

const STEPS = [
  { id: "find", tool: "find", arguments: {} },
  { id: "list", tool: "list", arguments: {} },
  { id: "send", tool: "send", arguments: {} },
];
const ENDS = {
  find: { status: "COMPLETED", output: { text: "found it", token: "hidden" } },
  list: { status: "COMPLETED", output: "listed it" },
  send: { status: "FAILED" },
} as const;

let server: ModelServer;
let prompts: string[];
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  prompts = [];
  server.script(({ body }) => {
    prompts.push(JSON.stringify(body));
    return answer("Done.");
  });
});
afterAll(() => server.close());

async function work(
  kind: "answer" | "replan",
  record: ReturnType<typeof recordOf>,
  maxModelCalls: number | null = null,
): Promise<MemoryPlanningStore> {
  const modelLimits = { maxModelCalls, maxTokens: null, maxCostUsd: null };
  const store = createMemoryPlanningStore({ query: "Do it", tools: TOOLS, modelLimits, record });
  store.request.planning.work = kind;
  const drafter = createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  await planInProcess(store, { drafter });
  return store;
}

test("results are the requested outputs of the plan, without secrets", () => {
  expect(requestedResults(recordOf(STEPS, ENDS, { outputs: ["find", "send"] }))).toEqual([
    { id: "find", tool: "find", output: { text: "found it", token: "[redacted]" } },
    { id: "send", tool: "send", output: undefined },
  ]);
});

test("composed results have the names of the parts, without secrets", () => {
  const outputs = { found: "<<find>>", both: "<<find.text>>, <<list>>", lost: "<<send.id>>" };
  expect(requestedResults(recordOf(STEPS, ENDS, { outputs }))).toEqual([
    { id: "found", tool: "find", output: { text: "found it", token: "[redacted]" } },
    { id: "both", tool: "find, list", output: "found it, listed it" },
    { id: "lost", tool: "send", output: undefined },
  ]);
});

test("a part without a value is none, also with the name of a member of every object", () => {
  const outputs = { toString: "<<send.id>>", valueOf: "<<list>>" };
  expect(requestedResults(recordOf(STEPS, ENDS, { outputs }))).toEqual([
    { id: "toString", tool: "send", output: undefined },
    { id: "valueOf", tool: "list", output: "listed it" },
  ]);
});

test("without requested outputs the results are those of all steps", () => {
  expect(requestedResults(recordOf(STEPS, ENDS)).map(({ id }) => id)).toEqual(["find", "list", "send"]);
});

test("a model that answers in words sees only the requested results", async () => {
  const store = await work("answer", recordOf(STEPS, ENDS, { outputs: ["find"] }));
  expect(store.request.answer).toBe("Done.");
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain("found it");
  expect(prompts[0]).not.toContain("listed it");
});

test("an answer that the limits do not allow is not requested", async () => {
  const store = await work("answer", recordOf(STEPS, ENDS), 0);
  expect(store.request.answerError).toMatchObject({ code: "BUDGET_EXCEEDED" });
  expect(prompts).toEqual([]);
});

test("a replan that the limits do not allow is not requested", async () => {
  const store = await work("replan", recordOf(STEPS, ENDS), 0);
  expect(store.request.error).toMatchObject({ code: "BUDGET_EXCEEDED" });
  expect(prompts).toEqual([]);
});
