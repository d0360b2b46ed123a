import type { ModelLimits } from "@planwright/store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

const SERVICE: ModelLimits = { maxModelCalls: 10, maxTokens: 50_000, maxCostUsd: null };
const USE = `modelUse { limits { maxModelCalls maxTokens maxCostUsd }
  spent { modelCalls tokens costUsd } reserved { modelCalls tokens costUsd } }`;

let running: RunningApi;
/** What has arrived of the answer to each running call. */
let partial: string | null = null;
beforeEach(async () => {
  running = await startTestApi({
    modelLimits: SERVICE,
    partialAnswers: { read: () => Promise.resolve(partial) },
  });
});
afterEach(() => running.close());

const create = (limits: object | null) =>
  running.graphql(
    `mutation ($limits: ModelLimitsInput) { createPlan(query: "do it", limits: $limits) { requestId ${USE} } }`,
    { limits },
  );

test("a request has the limits of the service, or lower ones from its arguments", async () => {
  const nothing = { modelCalls: 0, tokens: 0, costUsd: 0 };
  expect((await create(null)).body.data.createPlan.modelUse).toEqual({
    limits: SERVICE,
    spent: nothing,
    reserved: nothing,
  });
  const lower = { maxModelCalls: 2, maxCostUsd: 0.25 };
  expect((await create(lower)).body.data.createPlan.modelUse.limits).toEqual({ ...SERVICE, ...lower });
});

test("limits above those of the service are refused, and nothing is stored", async () => {
  const { body } = await create({ maxTokens: 50_001 });
  expect(body.errors[0].extensions).toMatchObject({
    code: "BAD_USER_INPUT",
    remedy: expect.stringContaining("REQUEST_MAX_TOKENS"),
  });
  expect((await running.store.listRequests("default", { first: 1 })).items).toEqual([]);
});

test("one key belongs to one set of limits", async () => {
  const keyed = (maxTokens: number) =>
    running.graphql(
      `mutation { createPlan(query: "do it", idempotencyKey: "k1", limits: { maxTokens: ${maxTokens} }) { requestId } }`,
    );
  const first = await keyed(1_000);
  expect((await keyed(1_000)).body).toEqual(first.body);
  expect((await keyed(2_000)).body.errors[0].extensions.code).toBe("IDEMPOTENCY_KEY_REUSED");
});

test("a request shows the usage of its model calls, the reserved amount, and the price of each call", async () => {
  const { requestId } = (await create({ maxCostUsd: 1 })).body.data.createPlan;
  const { store } = running;
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  const call = {
    purpose: "draft" as const,
    model: "openai:x",
    messages: [],
    attempt: 1,
    fallbackFor: null,
    reserved: { modelCalls: 1, tokens: 9_000, costUsd: 0.1 },
  };
  const spent = { modelCalls: 1, tokens: 1_200, costUsd: 0.02 };
  const begun = await store.beginModelCall(claim, call);
  if (begun.type !== "open") throw new TypeError("not begun");
  await store.endModelCall(begun.callId, {
    answer: "{}",
    finishReason: "stop",
    inputTokens: 1_000,
    outputTokens: 200,
    cachedInputTokens: 512,
    latencyMs: 7,
    costUsd: 0.02,
    pricing: "priced",
    spent,
    error: null,
  });
  await store.beginModelCall(claim, { ...call, model: "anthropic:y", fallbackFor: "MODEL_TIMEOUT" });
  partial = '{"steps": [';
  const { body } = await running.graphql(
    `query ($id: ID!) { request(requestId: $id) { ${USE} modelCalls { model inputTokens cachedInputTokens outputTokens costUsd
       pricing attempt fallbackFor partialAnswer spent { tokens } reserved { tokens } endedAt } } }`,
    { id: requestId },
  );
  expect(body.data.request).toMatchObject({
    modelUse: { spent, reserved: { modelCalls: 1, tokens: 9_000, costUsd: 0.1 } },
    modelCalls: [
      {
        cachedInputTokens: 512,
        costUsd: 0.02,
        partialAnswer: null,
        pricing: "priced",
        spent: { tokens: 1_200 },
        endedAt: expect.any(String),
      },
      {
        fallbackFor: "MODEL_TIMEOUT",
        costUsd: null,
        partialAnswer: partial,
        spent: null,
        reserved: { tokens: 9_000 },
        endedAt: null,
      },
    ],
  });
});
