import { createDrafter, createPriceList, type Drafter, type PriceList } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import type { JsonObject } from "@planwright/plan";
import type { ModelLimits } from "@planwright/store";
import { answer, type ModelServer, type ScriptedReply, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createMemoryPlanningStore } from "./memory-planning-store.ts";
import { planInProcess } from "./plan-in-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

const NO_LIMITS: ModelLimits = { maxModelCalls: null, maxTokens: null, maxCostUsd: null };
const PRICES = createPriceList({}, '{"openai:test": {"input": 10, "cachedInput": 1, "output": 100}}');
const WRONG: JsonObject = { steps: [{ id: "a", tool: "createFoldr", arguments: { name: "x" } }] };
const USAGE = { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 500 };

let server: ModelServer;
let asked: number;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  asked = 0;
});
afterAll(() => server.close());

/** Scripts the replies of the model, one after another; the last one is repeated. */
function replies(...scripted: ScriptedReply[]): void {
  server.script(() => scripted[Math.min(asked++, scripted.length - 1)] ?? { type: "hang" });
}

const model = (maxRetries = 0): Drafter =>
  createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: maxRetries,
    MODEL_MAX_OUTPUT_TOKENS: 1_000,
  });

async function plan(
  limits: Partial<ModelLimits> = {},
  parts: { drafter?: Drafter; prices?: PriceList } = {},
) {
  const { drafter = model(), prices = PRICES } = parts;
  const modelLimits = { ...NO_LIMITS, ...limits };
  const store = createMemoryPlanningStore({ query: SENTENCE, tools: TOOLS, modelLimits });
  await planInProcess(store, { drafter, prices });
  return store;
}

test("a call is stored with its cost and tokens, cached tokens too, and counts for its request", async () => {
  replies(answer(ANSWER, { usage: USAGE }));
  const store = await plan();
  const costUsd = (500 * 10 + 500 * 1 + 100 * 100) / 1e6;
  expect(store.calls).toMatchObject([
    { ...USAGE, costUsd, pricing: "priced", attempt: 1, fallbackFor: null, endedAt: expect.any(Date) },
  ]);
  expect(store.request.modelUse).toEqual({
    spent: { modelCalls: 1, tokens: 1_100, costUsd },
    reserved: { modelCalls: 0, tokens: 0, costUsd: 0 },
  });
});

test("a model without a price is unpriced, and is refused under a limit in dollars", async () => {
  replies(answer(ANSWER));
  const prices = createPriceList({});
  expect((await plan({}, { prices })).calls).toMatchObject([{ costUsd: null, pricing: "unpriced" }]);
  asked = 0;
  const limited = await plan({ maxCostUsd: 1 }, { prices });
  expect(limited.request.error).toMatchObject({
    code: "MODEL_UNPRICED",
    message: expect.stringContaining("MODEL_PRICES_FILE"),
  });
  expect(asked).toBe(0);
});

test.each([
  { limit: "maxTokens", limits: { maxTokens: 1_500 }, says: "1500 tokens" },
  { limit: "maxCostUsd", limits: { maxCostUsd: 0.1 }, says: "$0.1" },
  { limit: "maxModelCalls", limits: { maxModelCalls: 0 }, says: "0" },
])(
  "a call that may exceed $limit is not sent, and the error names the limit and a remedy",
  async ({ limit, limits, says }) => {
    replies(answer(ANSWER));
    const store = await plan(limits);
    expect(asked).toBe(0);
    expect(store.calls).toEqual([]);
    expect(store.request).toMatchObject({ status: "FAILED", error: { code: "BUDGET_EXCEEDED" } });
    const message = store.request.error?.message ?? "";
    expect(message).toContain(`${limit} of this request is ${says}`);
    expect(message).toContain(`higher ${limit}`);
  },
);

test("a repair that the limits do not allow ends planning, with the diagnostics and the answer so far", async () => {
  replies(answer(WRONG, { usage: USAGE }));
  const store = await plan({ maxModelCalls: 1 });
  expect(asked).toBe(1);
  expect(store.failures).toMatchObject([
    {
      error: { code: "BUDGET_EXCEEDED", message: expect.stringContaining("1 used so far") },
      diagnostics: [{ code: "TOOL_UNKNOWN" }],
      raw: JSON.stringify(WRONG),
    },
  ]);
});

test("the unused part of a reservation is available to the next call", async () => {
  replies(answer(WRONG, { usage: { inputTokens: 10, outputTokens: 10 } }), answer(ANSWER));
  const single = await plan({ maxTokens: 1_000_000 });
  const reserved = Math.max(...single.calls.map((call) => call.reserved?.tokens ?? 0));
  asked = 0;
  const store = await plan({ maxTokens: reserved + 20 });
  expect(store.plans).toHaveLength(1);
  expect(store.calls).toHaveLength(2);
});

test("tries that the provider refused are recorded and do not count for the limits", async () => {
  replies(
    { type: "error", status: 429, retryAfterSeconds: 0 },
    { type: "error", status: 503, retryAfterSeconds: 0 },
    answer(ANSWER),
  );
  const store = await plan({ maxModelCalls: 1 }, { drafter: model(2) });
  expect(store.plans).toHaveLength(1);
  expect(store.calls).toMatchObject([
    { attempt: 1, error: { code: "MODEL_RATE_LIMITED" }, spent: { modelCalls: 0 } },
    { attempt: 2, error: { code: "MODEL_UNREACHABLE" }, spent: { modelCalls: 0 } },
    { attempt: 3, error: null, spent: { modelCalls: 1 } },
  ]);
});

test("a truncated answer counts completely, and is not repeated beyond the limit", async () => {
  replies({ type: "cut", text: JSON.stringify(ANSWER), afterChars: 20 });
  const store = await plan({ maxModelCalls: 2 }, { drafter: model(5) });
  expect(asked).toBe(2);
  expect(store.request.error).toMatchObject({ code: "BUDGET_EXCEEDED" });
  expect(store.calls.map(({ spent, reserved }) => spent?.tokens === reserved?.tokens)).toEqual([true, true]);
});

test("the plan names the fallback model that made it, and the record has the reason for the fallback", async () => {
  server.script(({ body }) => (body["model"] === "test" ? { type: "error", status: 401 } : answer(ANSWER)));
  const drafter = createDrafter({
    MODEL: "openai:test",
    OPENAI_BASE_URL: server.openAiUrl,
    FALLBACK_MODEL: "openai:spare",
  });
  const store = await plan({}, { drafter });
  expect(store.plans[0]?.origin).toEqual({ kind: "model", model: "openai:spare" });
  expect(store.calls).toMatchObject([
    { model: "openai:test", fallbackFor: null },
    { model: "openai:spare", fallbackFor: "MODEL_UNAUTHORIZED" },
  ]);
});

test("the offline drafter does not count for any limit", async () => {
  const store = await plan({ maxModelCalls: 0, maxTokens: 0 }, { drafter: createOfflineDrafter() });
  expect(store.plans).toHaveLength(1);
  expect(store.calls).toMatchObject([{ model: "offline", costUsd: null }]);
  expect(store.request.modelUse).toBeUndefined();
});
