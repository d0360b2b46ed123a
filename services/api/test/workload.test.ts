import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs, failAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
});
afterAll(() => running.close());

const QUERY =
  "{ workload { at since ended failed running waiting oldestWaiting { since ageMs requestId } } }";
const workloadOf = async (tenant: string) =>
  (await running.graphql(QUERY, {}, await bearer(running.store, ["read"], { tenant }))).body.data.workload;

async function submitted(tenant: string) {
  const document = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }";
  const key = await bearer(running.store, ["execute"], { tenant });
  return (await running.graphql(document, { plan: BLOG_PLAN }, key)).body.data.submitPlan;
}

test("a tenant sees its running, waiting and ended requests", async () => {
  await executeAs(running.store, (await submitted("owner")).planId);
  await failAs(running.store, (await submitted("owner")).planId);
  await running.store.claimPlan((await submitted("owner")).planId, "e1");
  const { requestId } = await submitted("owner");
  await submitted("owner");
  expect(await workloadOf("owner")).toEqual({
    at: expect.any(String),
    since: expect.any(String),
    ended: 2,
    failed: 1,
    running: 1,
    waiting: 2,
    oldestWaiting: { since: expect.any(String), ageMs: expect.any(Number), requestId },
  });
});

test("another tenant sees none of them", async () => {
  expect(await workloadOf("intruder")).toMatchObject({
    ended: 0,
    failed: 0,
    running: 0,
    waiting: 0,
    oldestWaiting: null,
  });
});

test("a caller without read gets nothing", async () => {
  const { status, body } = await running.graphql(QUERY, {}, await bearer(running.store, ["operate"]));
  expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 403, code: "FORBIDDEN" });
});
