/**
 * Acceptance is atomic, also after an interruption: a request with its plan, or nothing that clients can see.
 */
import { type Plan, parsePlan, type RequestId } from "@planwright/plan";
import { IdempotencyKeyReusedError } from "@planwright/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";

const DAY_MS = 86_400_000;
let opened: OpenStore;
let store: OpenStore["store"];

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  return parsed.plan;
}
const submission = { tenant: "t1", query: null, raw: "{}", diagnostics: [], autoExecute: true };
const submit = (key?: string, payloadHash = "p") =>
  store.submitPlan({
    ...submission,
    plan: onePlan(),
    ...(key !== undefined && { idempotency: { key, payloadHash } }),
  });
const ask = (key: string, payloadHash = "p") =>
  store.createRequest({ tenant: "t1", query: "do a", autoExecute: true, idempotency: { key, payloadHash } });

describe.each(STORES)("in a store on $name", ({ open }) => {
  beforeEach(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterEach(() => opened.close());

  test("simultaneous submissions are accepted, each with its plan, and can be claimed", async () => {
    const accepted = await Promise.all(Array.from({ length: 50 }, () => submit()));
    const plans = await Promise.all(accepted.map(({ request }) => store.getPlan("t1", request.planId)));
    expect(plans.map((plan) => plan?.requestId)).toEqual(accepted.map(({ request }) => request._id));
    for (const { plan } of accepted.slice(0, 5))
      expect((await store.claimPlan(plan._id, "e1"))?.plan.status).toBe("RUNNING");
  });

  test("a submission without its plan is completed by the next one under its key", async () => {
    const first = await submit("cut off");
    await opened.remove("plans", first.plan._id);
    const again = await submit("cut off");
    expect(again.request._id).toBe(first.request._id);
    expect(again.plan).toMatchObject({ _id: first.plan._id, requestId: first.request._id, status: "QUEUED" });
    expect((await store.claimPlan(first.plan._id, "e1"))?.plan.requestId).toBe(first.request._id);
    expect((await submit("cut off")).plan).toMatchObject({ _id: first.plan._id, status: "RUNNING" });
  });

  test("a key is free again after a day, not earlier", async () => {
    const first = await submit("daily");
    const almost = new Date(store.now() - DAY_MS + 60_000);
    await opened.change("requests", first.request._id, { createdAt: almost });
    expect((await submit("daily")).request._id).toBe(first.request._id);
    await expect(submit("daily", "other")).rejects.toBeInstanceOf(IdempotencyKeyReusedError);
    await opened.change("requests", first.request._id, { createdAt: new Date(store.now() - DAY_MS) });
    const next = await submit("daily", "other");
    expect(next.request._id).not.toBe(first.request._id);
    expect((await submit("daily", "other")).request._id).toBe(next.request._id);
    expect((await store.getRequest("t1", first.request._id))?.planId).toBe(first.plan._id);
  });

  test("sentences and plans share the keys of a tenant, and a refused submission is not stored", async () => {
    const sentence = await ask("shared");
    await expect(submit("shared", "other")).rejects.toMatchObject({ facts: { requestId: sentence._id } });
    const { items } = await store.listRequests("t1", { first: 100 });
    expect(items.filter(({ idempotency }) => idempotency?.key === sentence.idempotency?.key)).toHaveLength(1);
    expect(await store.getPlan("t1", sentence.planId)).toBeNull();
  });

  test("one of several simultaneous submissions under one key is accepted, with one plan", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => submit("race")));
    const ids = new Set(made.map(({ request }): RequestId => request._id));
    expect(ids.size).toBe(1);
    expect(new Set(made.map(({ plan }) => plan._id)).size).toBe(1);
    const [id] = ids;
    expect(await opened.plansOf(id!)).toHaveLength(1);
  });
});
