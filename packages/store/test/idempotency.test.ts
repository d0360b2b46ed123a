import { type Plan, parsePlan } from "@planwright/plan";
import { createStore, IdempotencyKeyReusedError, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});

const sentence = { tenant: "t1", query: "do a", autoExecute: true };
const submission = {
  tenant: "t1",
  query: null,
  plan: onePlan(),
  raw: "{}",
  diagnostics: [],
  autoExecute: true,
};

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const countRequests = async (tenant: string) =>
  (await store.listRequests(tenant, { first: 100 })).items.length;

describe("a key", () => {
  test("returns the request that it made, in its current state", async () => {
    const idempotency = { key: "again", payloadHash: "p" };
    const first = await store.createRequest({ ...sentence, idempotency });
    const claim = await store.claimRequest(first._id, "planner");
    await store.askQuestions(claim!, {
      questions: [{ id: "q1", question: "Which one?", about: null }],
      draft: null,
    });
    const second = await store.createRequest({ ...sentence, idempotency });
    expect(second).toMatchObject({ _id: first._id, planId: first.planId, status: "NEEDS_INPUT" });
  });

  test("returns the plan that it made, valid or not", async () => {
    const idempotency = { key: "plan", payloadHash: "p" };
    const first = await store.submitPlan({ ...submission, idempotency });
    const second = await store.submitPlan({ ...submission, idempotency });
    expect([second.request._id, second.plan._id]).toEqual([first.request._id, first.plan._id]);
    const invalid = { ...submission, plan: null, idempotency: { key: "invalid", payloadHash: "p" } };
    const third = await store.submitPlan(invalid);
    expect((await store.submitPlan(invalid)).plan).toMatchObject({ _id: third.plan._id, status: "INVALID" });
  });

  test("that was used for other content is refused, and nothing is accepted", async () => {
    const first = await store.createRequest({
      ...sentence,
      tenant: "t2",
      idempotency: { key: "k", payloadHash: "one" },
    });
    const other = { key: "k", payloadHash: "two" };
    const refused = store.createRequest({ ...sentence, tenant: "t2", idempotency: other });
    await expect(refused).rejects.toThrow(IdempotencyKeyReusedError);
    await expect(refused).rejects.toMatchObject({ facts: { requestId: first._id } });
    await expect(
      store.submitPlan({ ...submission, tenant: "t2", idempotency: other }),
    ).rejects.toBeInstanceOf(IdempotencyKeyReusedError);
    expect(await countRequests("t2")).toBe(1);
  });

  test("makes one request for simultaneous calls", async () => {
    const idempotency = { key: "race", payloadHash: "p" };
    const made = await Promise.all(
      Array.from({ length: 20 }, () => store.createRequest({ ...sentence, tenant: "t3", idempotency })),
    );
    expect(new Set(made.map((request) => request._id)).size).toBe(1);
    const plans = await Promise.all(
      Array.from({ length: 20 }, () =>
        store.submitPlan({ ...submission, tenant: "t3", idempotency: { key: "race 2", payloadHash: "p" } }),
      ),
    );
    expect(new Set(plans.map(({ plan }) => plan._id)).size).toBe(1);
    expect(await countRequests("t3")).toBe(2);
  });

  test("belongs to its tenant", async () => {
    const idempotency = { key: "mine", payloadHash: "p" };
    const mine = await store.createRequest({ ...sentence, tenant: "t4", idempotency });
    const yours = await store.createRequest({ ...sentence, tenant: "t5", idempotency });
    expect(yours._id).not.toBe(mine._id);
  });
});
