import {
  createStore,
  LeaseLostError,
  type ModelCallBegin,
  type ModelCallEnd,
  type ModelLimits,
  type PlanningClaim,
  type Store,
} from "@planwright/store";
import { findDue, testServers } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

const TENANT = "t1";
const LIMITS: ModelLimits = { maxModelCalls: 3, maxTokens: 1_000, maxCostUsd: 0.5 };

let store: Store;
beforeEach(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterEach(() => store.close());

async function claimed(modelLimits?: ModelLimits): Promise<PlanningClaim> {
  const asked = { tenant: TENANT, query: "do a", autoExecute: false, modelLimits };
  const { _id } = await store.createRequest(asked);
  const claim = await store.claimRequest(_id, "p1");
  if (!claim) throw new TypeError("not claimed");
  return claim;
}

const call = (tokens: number, costUsd = 0): ModelCallBegin => ({
  purpose: "draft",
  model: "openai:x",
  messages: [{ role: "user", content: "do a" }],
  attempt: 1,
  fallbackFor: null,
  reserved: { modelCalls: 1, tokens, costUsd },
});

const end = (tokens: number, costUsd = 0): ModelCallEnd => ({
  answer: "{}",
  finishReason: "stop",
  inputTokens: tokens - 5,
  outputTokens: 5,
  cachedInputTokens: null,
  latencyMs: 12,
  costUsd,
  pricing: "priced",
  spent: { modelCalls: 1, tokens, costUsd },
  error: null,
});

async function begin(claim: PlanningClaim, next: ModelCallBegin): Promise<string> {
  const begun = await store.beginModelCall(claim, next);
  if (begun.type !== "open") throw new TypeError(`not open: ${JSON.stringify(begun)}`);
  return begun.callId;
}

const useOf = async ({ request }: PlanningClaim) =>
  (await store.getRequest(TENANT, request._id))?.modelUse ?? null;

/** The calls of a request, with their texts. */
async function callsOf({ request }: PlanningClaim) {
  const heads = await store.listModelCallHeadsOf(TENANT, [request._id]);
  const texts = await store.readModelCallTexts(
    TENANT,
    heads.map(({ _id }) => _id),
  );
  return heads.map((head) => ({ ...head, ...texts.find(({ _id }) => _id === head._id) }));
}

test("a call is stored and reserved before it is sent, and then counted by its real amounts", async () => {
  const claim = await claimed(LIMITS);
  const callId = await begin(claim, call(600, 0.2));
  expect(await useOf(claim)).toEqual({
    spent: { modelCalls: 0, tokens: 0, costUsd: 0 },
    reserved: { modelCalls: 1, tokens: 600, costUsd: 0.2 },
  });
  const open = await callsOf(claim);
  expect(open).toMatchObject([{ answer: "", endedAt: null, spent: null, reserved: { tokens: 600 } }]);

  await store.endModelCall(callId, end(150, 0.03));
  expect(await useOf(claim)).toEqual({
    spent: { modelCalls: 1, tokens: 150, costUsd: 0.03 },
    reserved: { modelCalls: 0, tokens: 0, costUsd: 0 },
  });
  const ended = await callsOf(claim);
  expect(ended).toMatchObject([
    { answer: "{}", inputTokens: 145, costUsd: 0.03, pricing: "priced", endedAt: expect.any(Date) },
  ]);
});

test("a call that ends twice is counted once", async () => {
  const claim = await claimed(LIMITS);
  const callId = await begin(claim, call(600));
  await Promise.all([store.endModelCall(callId, end(150)), store.endModelCall(callId, end(150))]);
  await store.endModelCall(callId, end(400));
  expect(await useOf(claim)).toMatchObject({
    spent: { modelCalls: 1, tokens: 150 },
    reserved: { tokens: 0 },
  });
});

test.each([
  { limit: "maxTokens", next: call(1_001), max: 1_000, needed: 1_001 },
  { limit: "maxCostUsd", next: call(1, 0.51), max: 0.5, needed: 0.51 },
])("a call that might exceed $limit is not begun, and nothing is written", async ({ next, ...facts }) => {
  const claim = await claimed(LIMITS);
  expect(await store.beginModelCall(claim, next)).toEqual({ type: "exceeded", ...facts, used: 0 });
  expect(await useOf(claim)).toBeNull();
  expect(await callsOf(claim)).toEqual([]);
});

test("no more simultaneous calls begin than the limits allow", async () => {
  const claim = await claimed(LIMITS);
  const begun = await Promise.all(Array.from({ length: 12 }, () => store.beginModelCall(claim, call(10))));
  expect(begun.filter(({ type }) => type === "open")).toHaveLength(3);
  expect(begun.find(({ type }) => type === "exceeded")).toEqual({
    type: "exceeded",
    limit: "maxModelCalls",
    max: 3,
    used: 3,
    needed: 1,
  });
});

test("reservations of a dead planner are kept: its successors can use only the rest", async () => {
  const claim = await claimed(LIMITS);
  let planner: PlanningClaim | null = claim;
  const epochs: number[] = [];
  // Each planner dies after its reservation.
  while (planner && (await store.beginModelCall(planner, call(400))).type === "open") {
    epochs.push(planner.epoch);
    planner = await takenOver(claim.request._id);
  }
  expect(epochs).toEqual([1, 2]);
  expect(await useOf(claim)).toMatchObject({ reserved: { modelCalls: 2, tokens: 800 } });
});

async function takenOver(requestId: PlanningClaim["request"]["_id"]): Promise<PlanningClaim | null> {
  // Its owner is an unknown worker.
  await store.takeFromDead({ declaresSilent: false });
  await expect.poll(() => findDue(store.requestLeases, 10)).toEqual([requestId]);
  return store.claimRequest(requestId, "another");
}

test("a planner that lost the request begins no call, but can end the call that it began", async () => {
  const claim = await claimed(LIMITS);
  const callId = await begin(claim, call(400));
  await takenOver(claim.request._id);
  await expect(store.beginModelCall(claim, call(1))).rejects.toThrow(LeaseLostError);
  await store.endModelCall(callId, end(100));
  expect(await useOf(claim)).toMatchObject({ spent: { tokens: 100 }, reserved: { tokens: 0 } });
});

test("a request waits no more for a model that has answered, and still waits for one that failed again", async () => {
  const first = await claimed();
  const { request } = first;
  const error = { code: "MODEL_UNREACHABLE", message: "HTTP 500" };
  const away = { error, pauseMs: () => 0, requestedMs: 0, unreachableMs: 60_000 };
  await store.postponePlanning(first, away);
  await expect.poll(() => findDue(store.requestLeases, 5)).toEqual([request._id]);
  const claim = (await store.claimRequest(request._id, "p1"))!;
  const waitAfter = async (failure: typeof error | null) => {
    await store.endModelCall(await begin(claim, call(1)), { ...end(1), error: failure });
    return (await store.getRequest(TENANT, request._id))?.planning.wait;
  };
  expect(await waitAfter(error)).toMatchObject({ tries: 1 });
  expect(await waitAfter(null)).toBeNull();
});

test("a claim has the answers of earlier claims of the same work, the latest first, and no others", async () => {
  const claim = await claimed();
  const { _id } = claim.request;
  const answered = async (by: PlanningClaim, answer: string, isAnswerComplete = true) =>
    store.endModelCall(await begin(by, call(1)), { ...end(1), answer, isAnswerComplete });
  const answersOf = (by: PlanningClaim | null) => by?.earlierCalls.map(({ answer }) => answer);
  await answered(claim, "one");
  await answered(claim, "two");
  await answered(claim, "without its secret", false);
  await begin(claim, call(1));
  expect(answersOf(claim)).toEqual([]);

  const second = await takenOver(_id);
  expect(answersOf(second)).toEqual(["one", "two"]);
  if (!second) return;
  await answered(second, "three");
  const third = await takenOver(_id);
  expect(answersOf(third)).toEqual(["three", "one", "two"]);
  if (!third) return;

  await store.askQuestions(third, {
    questions: [{ id: "q1", question: "Which one?", about: null }],
    draft: null,
  });
  await store.answerQuestions(TENANT, _id, {
    answers: [{ questionId: "q1", question: "Which one?", answer: "That one", gives: null }],
    discardsDraft: false,
  });
  expect(answersOf(await takenOver(_id))).toEqual([]);
  expect(answersOf(await takenOver(_id))).toEqual([]);
});

test("the use of a request without limits is counted too", async () => {
  const claim = await claimed();
  await store.endModelCall(await begin(claim, call(9_000_000, 70)), end(8_000_000, 60));
  expect(await useOf(claim)).toMatchObject({ spent: { tokens: 8_000_000, costUsd: 60 } });
});

test("costs are summed by model and request for one tenant and time; open and offline calls are told apart", async () => {
  const [cheap, dear] = [await claimed(), await claimed()];
  await store.endModelCall(await begin(cheap, call(100)), end(100, 0.25));
  await store.endModelCall(await begin(dear, call(100)), end(100, 0.5));
  const failed = { ...end(100), error: { code: "MODEL_TIMEOUT", message: "late", retryable: true } };
  await store.endModelCall(await begin(dear, { ...call(100), model: "openai:y" }), {
    ...failed,
    costUsd: null,
    pricing: "unpriced",
  });
  await begin(dear, call(100));
  const { attempt, ...offline } = { ...call(1), ...end(1), model: "offline" };
  await store.recordModelCall({ ...offline, requestId: cheap.request._id, tenant: TENANT });
  await store.recordModelCall({
    ...offline,
    attempt,
    ...end(1, 9),
    requestId: cheap.request._id,
    tenant: "other",
  });
  const time = { from: new Date(store.now() - 60_000), before: new Date(store.now() + 60_000) };
  const sums = { failures: 0, unended: 0, unpriced: 0, cachedInputTokens: 0 };
  const all = { ...sums, calls: 4, failures: 1, unended: 1, unpriced: 1, inputTokens: 285, outputTokens: 15 };
  expect(await store.modelCosts(TENANT, time)).toEqual({
    total: { ...all, costUsd: 0.75 },
    models: [
      { ...sums, model: "openai:x", calls: 3, unended: 1, inputTokens: 190, outputTokens: 10, costUsd: 0.75 },
      { ...all, model: "openai:y", calls: 1, unended: 0, inputTokens: 95, outputTokens: 5, costUsd: 0 },
    ],
    requests: [
      { ...all, requestId: dear.request._id, calls: 3, inputTokens: 190, outputTokens: 10, costUsd: 0.5 },
      { ...sums, requestId: cheap.request._id, calls: 1, inputTokens: 95, outputTokens: 5, costUsd: 0.25 },
    ],
    isComplete: true,
  });
  const earlier = { from: new Date(time.from.getTime() - 60_000), before: time.from };
  expect(await store.modelCosts(TENANT, earlier)).toMatchObject({ models: [], total: { calls: 0 } });
});

test("the calls for a question about contracts count for the tenant, are no request, and end once", async () => {
  const ask = { id: `contracts_${Math.floor(store.now() / 1_000)}_a`, tenant: TENANT };
  const asked = { ...ask, askedAt: new Date(), digest: "d", takenBy: "p1", answer: null };
  const question = call(100);
  const first = await store.beginContractCall(asked, question);
  await store.beginContractCall(asked, question);
  await store.endContractCall(first.callId, end(100, 0.25));
  await store.endContractCall(first.callId, end(9_000, 9));
  const time = { from: new Date(store.now() - 60_000), before: new Date(store.now() + 60_000) };
  expect(await store.modelCosts(TENANT, time)).toMatchObject({
    total: { calls: 2, unended: 1, costUsd: 0.25 },
    requests: [],
  });
  expect(await store.modelCallsPausedUntil(TENANT, 2)).toBeInstanceOf(Date);
  expect(await store.modelCallsPausedUntil("other", 2)).toBeNull();
});
