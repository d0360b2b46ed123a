import { createDrafter, type Drafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { type JsonObject, observeOutput, type ToolDescriptor } from "@planwright/plan";
import { answer, type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createMemoryPlanningStore, type MemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

let server: ModelServer;
let model: Drafter;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  server.script(() => ({ type: "error", status: 400, message: "nothing scripted" }));
  model = createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
    MODEL_TIMEOUT_MS: 600_000,
  });
});
afterAll(() => server.close());

/** Scripts the answers of the model, one after another; the last one is repeated. */
function answers(...texts: (string | JsonObject)[]): () => number {
  let asked = 0;
  server.script(() => answer(texts[Math.min(asked++, texts.length - 1)] ?? ""));
  return () => asked;
}

async function plan(input: {
  drafter?: Drafter;
  query?: string;
  tools?: ToolDescriptor[];
  autoExecute?: boolean;
  store?: MemoryPlanningStore;
}) {
  const { drafter = createOfflineDrafter(), query = SENTENCE, tools = TOOLS, autoExecute = false } = input;
  const store = input.store ?? createMemoryPlanningStore({ query, tools, autoExecute });
  const offered: string[] = [];
  const result = await planInProcess(store, { drafter }, { offerExecution: ({ _id }) => offered.push(_id) });
  return { result, store, offered };
}

const broken = (steps: JsonObject[]): JsonObject => ({ steps });
const WRONG_TOOL = broken([{ id: "a", tool: "createFoldr", arguments: { name: "x" } }]);
const NO_NAME = broken([{ id: "a", tool: "createFolder", arguments: {} }]);
const WRONG_REFERENCE = broken([
  { id: "createNote", tool: "createNote", arguments: { title: "x", folderId: "<<nowhere._id>>" } },
]);

test("a plan has the policy of its request", async () => {
  const policy = { profile: "orchestrator", maxParallel: 2 } as const;
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS, policy });
  await plan({ store });
  expect(store.plans[0]?.plan?.policy).toMatchObject({ ...policy, mergeDependencyOutputs: true });
});

test("the offline drafter's plan is stored under the request's plan id, with references unchanged", async () => {
  const { result, store, offered } = await plan({});
  expect(result).toMatchObject({ type: "planned", plan: { _id: store.request.planId, status: "READY" } });
  expect(store.plans[0]?.plan?.steps).toMatchObject([
    { id: "createFolder", arguments: { name: "Work" } },
    { id: "createNote", arguments: { title: "Hello", folderId: "<<createFolder._id>>" } },
  ]);
  expect(store.plans[0]?.origin).toEqual({ kind: "offline", model: null });
  expect(offered).toEqual([]);
});

test("with autoExecute the stored plan is offered to executors", async () => {
  const { store, offered } = await plan({ autoExecute: true });
  expect(offered).toEqual([store.request.planId]);
});

test("a good answer costs one call, which is recorded with tokens and messages", async () => {
  const asked = answers(ANSWER);
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(1);
  expect(store.plans[0]).toMatchObject({
    origin: { kind: "model", model: "openai:test" },
    raw: JSON.stringify(ANSWER),
  });
  expect(store.calls).toMatchObject([
    {
      requestId: store.request._id,
      purpose: "draft",
      model: "openai:test",
      answer: JSON.stringify(ANSWER),
      finishReason: "stop",
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      error: null,
    },
  ]);
  expect(store.calls[0]?.messages[1]?.content).toContain(SENTENCE);
});

test("arguments as JSON text are parsed", async () => {
  answers(
    JSON.stringify({
      steps: [{ id: "f", tool: "createFolder", arguments: '{"name":"Work"}', dependsOn: [] }],
      missing: null,
    }),
  );
  const { store } = await plan({ drafter: model });
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ arguments: { name: "Work" } }]);
});

test("an invalid answer is repaired from its diagnostics alone", async () => {
  const asked = answers(WRONG_TOOL, ANSWER);
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(2);
  expect(store.plans).toHaveLength(1);
  expect(store.calls.map(({ purpose }) => purpose)).toEqual(["draft", "repair"]);
  const repair = store.calls[1]?.messages ?? [];
  expect(repair[2]).toEqual({ role: "assistant", content: JSON.stringify(WRONG_TOOL) });
  expect(repair[3]?.content).toContain("TOOL_UNKNOWN");
  expect(repair[3]?.content).toContain("createFolder");
});

test("a model that calls a tool that is left out is told why, and no other name is suggested", async () => {
  const leftOut = [{ server: "shop", tool: "createFoldr", reason: "it has no inputSchema" }];
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS, leftOut });
  answers(WRONG_TOOL, ANSWER);
  await plan({ drafter: model, store });
  expect(store.calls[1]?.messages?.[3]?.content).toContain(
    "step a calls createFoldr, which no plan can use: server shop lists it, but it was left out because it has no inputSchema",
  );
  expect(store.plans).toHaveLength(1);
});

test("at most two repairs are made", async () => {
  const asked = answers(WRONG_TOOL, NO_NAME, WRONG_REFERENCE, ANSWER);
  const { store, result } = await plan({ drafter: model });
  expect(asked()).toBe(3);
  expect(result).toMatchObject({ type: "failed", code: "PLAN_INVALID" });
  expect(store.plans).toEqual([]);
  expect(store.failures[0]).toMatchObject({
    error: { code: "PLAN_INVALID", message: expect.stringContaining("nowhere") },
    raw: JSON.stringify(WRONG_REFERENCE),
    origin: { kind: "model" },
  });
  expect(store.failures[0]?.diagnostics.map(({ code }) => code)).toContain("REFERENCE_UNKNOWN");
});

test("repeated diagnostics end the repairs", async () => {
  const asked = answers(WRONG_TOOL);
  const { result } = await plan({ drafter: model });
  expect(asked()).toBe(2);
  expect(result).toMatchObject({ type: "failed", code: "PLAN_INVALID" });
});

test("after an answer in prose the model is asked once more, then the answer counts as unreadable", async () => {
  const asked = answers("I would create a folder.", "Still prose.");
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(2);
  expect(store.failures[0]).toMatchObject({
    error: {
      code: "MODEL_ANSWER_UNREADABLE",
      message: "The model's answer is text without a plan; it is: Still prose.",
    },
    raw: "Still prose.",
  });
});

const TWO_PLANS = `${JSON.stringify({ steps: [{ id: "a", tool: "createFolder", arguments: { name: "A" } }] })}
${JSON.stringify({ steps: [{ id: "b", tool: "createFolder", arguments: { name: "B" } }] })}`;

test.each([
  ["   ", "The model's answer is empty"],
  ['{"steps": [{"id": "a" "tool"}]}', /^The model's answer has JSON that cannot be read; it is: \{"steps"/],
  [`${"word ".repeat(100)}`, /^The model's answer is text without a plan; it begins: word/],
  ['{"steps": [{"id": "a", ...}]}', "The model's answer leaves out parts of the plan, so it is not used"],
  ['{"answer": 42}', "The model gave no valid plan: its answer is JSON, but not a plan"],
  [TWO_PLANS, /^The model gave no valid plan: its answer holds several plans/],
])("after %j people read what was answered, not what the model was told", async (text, message) => {
  answers(text, text, text);
  const { store } = await plan({ drafter: model });
  const [failure] = store.failures;
  expect(failure?.error.message).toEqual(
    typeof message === "string" ? message : expect.stringMatching(message),
  );
  expect(failure?.error.message).not.toMatch(/nothing else|answer with|write every/i);
  expect(failure?.raw).toBe(text);
});

test("a plan after prose is accepted", async () => {
  answers("I would create a folder.", `Of course:\n\`\`\`json\n${JSON.stringify(ANSWER)}\n\`\`\``);
  const { result } = await plan({ drafter: model });
  expect(result.type).toBe("planned");
});

test("a truncated answer is refused without a repair, even when the provider reports it as complete", async () => {
  const asked = answers(JSON.stringify(ANSWER).slice(0, -20));
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(1);
  expect(store.failures[0]?.error.code).toBe("MODEL_ANSWER_TRUNCATED");
});

test("after an answer with an ellipsis instead of steps, the complete answer is requested", async () => {
  const left = JSON.stringify(ANSWER).replace(/\]\}$/, ", ...]}");
  const asked = answers(left, ANSWER);
  const { result, store } = await plan({ drafter: model });
  expect(result.type).toBe("planned");
  expect(asked()).toBe(2);
  expect(store.calls[1]?.messages.at(-1)?.content).toContain("write every step and value");
});

test("an answer that repeatedly omits parts is not accepted", async () => {
  const left = JSON.stringify(ANSWER).replace(/\]\}$/, ", ...]}");
  const asked = answers(left, left, left);
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(2);
  expect(store.failures[0]?.error.code).toBe("MODEL_ANSWER_TRUNCATED");
});

test("a model that answers that no tool fits ends planning with its message", async () => {
  answers({ steps: [], missing: null, impossible: "no tool paints" });
  const { store } = await plan({ drafter: model });
  expect(store.failures[0]?.error).toEqual({
    code: "NOT_PLANNABLE",
    message: "The model gives no plan: no tool paints",
  });
});

test("a model that lacks values asks for them, at most three, and no repair is made", async () => {
  const asked = answers({ steps: [], missing: ["Which folder?", "Which title?", "c?", "d?"] });
  const { store, result } = await plan({ drafter: model });
  expect(asked()).toBe(1);
  expect(result.type).not.toBe("planned");
  expect(store.request).toMatchObject({
    status: "NEEDS_INPUT",
    questions: [{ question: "Which folder?" }, { question: "Which title?" }, { question: "c?" }],
  });
});

test("a repair may lead to a question", async () => {
  answers(NO_NAME, { steps: [], missing: ["Which name?"] });
  const { store } = await plan({ drafter: model });
  expect(store.request).toMatchObject({ status: "NEEDS_INPUT", questions: [{ question: "Which name?" }] });
});

test("a failed call is recorded with its error and ends planning with its code", async () => {
  server.script(() => ({ type: "error", status: 401 }));
  const { store, result } = await plan({ drafter: model });
  expect(result).toMatchObject({ type: "failed", code: "MODEL_UNAUTHORIZED" });
  expect(store.calls).toMatchObject([{ answer: "", error: { code: "MODEL_UNAUTHORIZED" } }]);
});

test.each([
  { name: "an empty catalogue", query: SENTENCE, tools: [], code: "NO_TOOLS", says: "MCP_SERVERS_FILE" },
  {
    name: "a sentence that the rules do not understand",
    query: "Dance!",
    tools: TOOLS,
    code: "NOT_UNDERSTOOD",
    says: "Dance",
  },
])("$name ends planning with $code and what to do", async ({ query, tools, code, says }) => {
  const { store } = await plan({ query, tools });
  expect(store.failures[0]?.error).toMatchObject({ code, message: expect.stringContaining(says) });
  expect(store.request.status).toBe("FAILED");
});

test("a missing value is asked for, and nothing is made up", async () => {
  const { store } = await plan({ query: "Create folder", tools: TOOLS });
  expect(store.request).toMatchObject({
    status: "NEEDS_INPUT",
    questions: [{ question: expect.stringContaining("name") }],
  });
  expect(store.plans).toEqual([]);
});

test("a request that another planner holds is skipped", async () => {
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS });
  store.steal();
  const { result } = await plan({ store });
  expect(result).toEqual({ type: "skipped" });
});

test("a planner that lost its lease aborts the model call and stores nothing", async () => {
  server.script(() => ({ type: "hang" }));
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS });
  const before = server.requests.length;
  const planning = plan({ store, drafter: model });
  await expect.poll(() => server.requests.length).toBe(before + 1);
  store.steal();
  expect((await planning).result).toEqual({ type: "skipped" });
  expect(store.plans).toEqual([]);
  expect(store.failures).toEqual([]);
});

test("a planner that finishes without the lease stores nothing", async () => {
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS });
  const slow: MemoryPlanningStore = {
    ...store,
    recordModelCall: async () => store.steal(),
  };
  const { result } = await plan({ store: slow });
  expect(result).toEqual({ type: "skipped" });
  expect(store.plans).toEqual([]);
});

const MADE_UP = broken([
  { id: "createNote", tool: "createNote", arguments: { title: "Hello", folderId: "f-81c2" } },
]);

test("a made-up value is reported to the model, which may correct it", async () => {
  const asked = answers(MADE_UP, ANSWER);
  const { store } = await plan({ drafter: model });
  expect(asked()).toBe(2);
  expect(store.calls[1]?.messages.at(-1)?.content).toContain("ARGUMENT_UNSOURCED");
  expect(store.plans).toHaveLength(1);
});

test("the user is asked for a value that a model repeatedly makes up", async () => {
  const asked = answers(MADE_UP);
  const { store } = await plan({ drafter: model, autoExecute: true });
  expect(asked()).toBe(2);
  expect(store.request).toMatchObject({
    status: "NEEDS_INPUT",
    questions: [
      { about: { stepId: "createNote", keys: ["folderId"] }, question: expect.stringContaining("folderId") },
    ],
  });
  expect(store.plans).toEqual([]);
});

test("the user is not asked when there are other errors than made-up values", async () => {
  answers(broken([...(MADE_UP["steps"] as JsonObject[]), { id: "a", tool: "createFoldr", arguments: {} }]));
  const { store } = await plan({ drafter: model });
  expect(store.request).toMatchObject({ status: "FAILED", error: { code: "PLAN_INVALID" } });
});

test("a model sees an answer below its question, and a value from the question alone is refused", async () => {
  const query = "Write a note titled Hello";
  const store = createMemoryPlanningStore({ query, tools: TOOLS });
  store.request.answers.push({
    questionId: "q1",
    gives: null,
    question: "Which folder, such as f-81c2?",
    answer: "f-7a10",
    at: new Date(0),
  });
  const asked = answers(
    MADE_UP,
    broken([{ id: "createNote", tool: "createNote", arguments: { title: "Hello", folderId: "f-7a10" } }]),
  );
  await plan({ drafter: model, query, store });
  expect(store.calls[0]?.messages.at(-1)?.content).toContain(
    JSON.stringify(`${query}\nQuestion: Which folder, such as f-81c2?\nAnswer: f-7a10`),
  );
  expect(asked()).toBe(2);
  expect(store.plans[0]?.plan?.steps).toMatchObject([{ arguments: { folderId: "f-7a10" } }]);
});

/** Tools without output schemas. Three outputs of the first tool were observed. */
const SEEN_TOOLS: ToolDescriptor[] = TOOLS.map(({ outputSchema: _outputSchema, ...tool }) => ({
  ...tool,
  ...(tool.name === "createFolder" && {
    observedOutput: [1, 2, 3].reduce<ToolDescriptor["observedOutput"]>(
      (known) => observeOutput(known, { folderId: "f" }),
      undefined,
    ),
  }),
}));
const noteIn = (field: string) =>
  broken([
    { id: "createFolder", tool: "createFolder", arguments: { name: "Work" } },
    {
      id: "createNote",
      tool: "createNote",
      arguments: { title: "Hello", folderId: `<<createFolder.${field}>>` },
    },
  ]);

test("a model is shown the shapes of earlier outputs", async () => {
  answers(noteIn("folderId"));
  const { store } = await plan({ drafter: model, tools: SEEN_TOOLS });
  const sent = JSON.stringify(store.calls[0]?.messages);
  expect(sent).toContain('\\"seen\\":{\\"folderId\\":\\"string\\"}');
  expect(sent).toContain("earlier runs");
  expect(store.plans[0]?.diagnostics).toEqual([]);
});

test("a field that no output had is reported to the model once, with the most similar one, and its next answer is used", async () => {
  const asked = answers(noteIn("folderld"), noteIn("folderId"));
  const { store } = await plan({ drafter: model, tools: SEEN_TOOLS });
  expect(asked()).toBe(2);
  expect(JSON.stringify(store.calls[1]?.messages)).toContain("did you mean folderId?");
  expect(store.plans[0]?.plan?.steps[1]).toMatchObject({
    arguments: { folderId: "<<createFolder.folderId>>" },
  });
});

test("when the model keeps such a field, its plan is used with a warning, after one more call", async () => {
  const asked = answers(noteIn("other"));
  const { result, store } = await plan({ drafter: model, tools: SEEN_TOOLS });
  expect(asked()).toBe(2);
  expect(result).toMatchObject({ type: "planned" });
  expect(store.plans[0]?.diagnostics).toMatchObject([
    { code: "REFERENCE_FIELD_UNKNOWN", severity: "warning", observedIn: 3 },
  ]);
});

test("an answer that cannot run does not replace a plan that can", async () => {
  const asked = answers(noteIn("other"), WRONG_TOOL);
  const { result, store } = await plan({ drafter: model, tools: SEEN_TOOLS });
  expect(asked()).toBe(2);
  expect(result).toMatchObject({ type: "planned" });
  expect(store.plans[0]?.plan?.steps[1]).toMatchObject({ arguments: { folderId: "<<createFolder.other>>" } });
});
