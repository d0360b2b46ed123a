import { createStore, type PlanningClaim, type Store } from "@planwright/store";
import { eventually, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepLease } from "./keep-lease.ts";

let store: Store;
beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(() => store.close());

async function claimed(): Promise<PlanningClaim> {
  const { _id } = await store.createRequest({ tenant: "default", query: "Do it", autoExecute: false });
  return eventually(() => store.claimRequest(_id, "test"));
}
const origin = { kind: "model", model: "test" } as const;
const failure = {
  error: { code: "NOT_PLANNABLE", message: "No" },
  diagnostics: [],
  raw: null,
  plan: null,
  origin,
};

test("a renewal that finds the lease gone because the work has ended takes nothing away", async () => {
  const claim = await claimed();
  let isOver = false;
  let renewals = 0;
  const renewPlanning = async (held: PlanningClaim) => {
    const begunOver = isOver;
    const isHeld = await store.renewPlanning(held);
    if (begunOver) renewals += 1;
    return isHeld;
  };
  const lease = keepLease(claim, {
    store: { renewPlanning },
    renewEveryMs: 10,
    onRenewalFailed: () => undefined, // one may be under way when the test is over
  });
  await store.failPlanning(claim, failure);
  isOver = true;
  await expect.poll(() => renewals).toBeGreaterThan(0);
  lease.stop();
  expect(lease.lost.aborted).toBe(false);
});

test("a renewal that finds the lease gone for any other reason tells of it", async () => {
  const claim = await claimed();
  await store.failPlanning({ ...claim }, failure); // as a planner that claimed it since would
  const lease = keepLease(claim, {
    store,
    renewEveryMs: 10,
    onRenewalFailed: () => undefined, // one may be under way when the test is over
  });
  await expect.poll(() => lease.lost.aborted).toBe(true);
  lease.stop();
});
