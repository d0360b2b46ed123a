import type { JsonObject } from "@planwright/plan";
import { parsePlan } from "@planwright/plan";
import { createStore, type PlanHead, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;
beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(() => store.close());

/** The head of a plan that ended with these outputs; null: it has not ended. */
async function headOf(outputs: JsonObject | null): Promise<PlanHead | null | undefined> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
  const { plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  const claim = await store.claimPlan(plan._id, "e1");
  if (claim && outputs) await store.finishPlan(claim, { type: "finish", status: "PARTIAL", outputs });
  const [head] = await store.getPlanHeads("t1", [plan._id]);
  // The same in one read with its request, and only for its tenant.
  expect(await store.getRequestWithPlan("t1", plan.requestId)).toEqual({
    request: await store.getRequest("t1", plan.requestId),
    plan: head,
  });
  expect(await store.getRequestWithPlan("t2", plan.requestId)).toBeNull();
  return head;
}

test("the head of a plan has its small outputs, or the size of large ones", async () => {
  expect(await headOf({ a: { id: 7 } })).toMatchObject({ smallOutputs: { a: { id: 7 } } });
  expect(await headOf({})).toMatchObject({ smallOutputs: {} });
  const large = await headOf({ a: "x".repeat(2_000) });
  expect(large).not.toHaveProperty("smallOutputs");
  expect(large?.resultBytes).toBeGreaterThan(2_000);
});

test("the head of a running plan has no outputs", async () => {
  expect(await headOf(null)).not.toHaveProperty("smallOutputs");
});

test("a request without a plan is read with null for its plan", async () => {
  const { _id } = await store.createRequest({ tenant: "t1", query: "Create both", autoExecute: true });
  expect(await store.getRequestWithPlan("t1", _id)).toMatchObject({ request: { _id }, plan: null });
});
