/** Only the plan that the client has seen is started. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { askAs, executeAs, failAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const SUBMIT =
  "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId plan { planHash } } }";
const EXECUTE = `mutation ($requestId: ID, $planId: ID, $hash: String!) {
  executePlan(requestId: $requestId, planId: $planId, planHash: $hash) { status planId plan { status } } }`;

async function ready(): Promise<{ requestId: string; planId: string; hash: string }> {
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const { requestId, planId, plan } = body.data.submitPlan;
  running.offered.length = 0;
  return { requestId, planId, hash: plan.planHash };
}
const execute = async (variables: object) => (await running.graphql(EXECUTE, variables)).body;

test("a plan is started by its hash, and the call may be repeated", async () => {
  const { requestId, planId, hash } = await ready();
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  for (const ids of [{ requestId }, { planId }]) {
    expect(await execute({ ...ids, hash })).toMatchObject({
      data: { executePlan: { status: "EXECUTING", planId, plan: { status: "QUEUED" } } },
    });
  }
  expect(running.offered).toContain(`execution ${planId}`);
});

test("two plans with the same content have different hashes, and the hash of one plan does not change", async () => {
  const [one, other] = [await ready(), await ready()];
  expect(one.hash).not.toBe(other.hash);
  const { body } = await running.graphql("query ($id: ID!) { plan(id: $id) { planHash } }", {
    id: one.planId,
  });
  expect(body.data.plan.planHash).toBe(one.hash);
});

test("a wrong hash starts nothing, and the error names the current plan", async () => {
  const { requestId, planId, hash } = await ready();
  const other = (await ready()).hash;
  const { errors } = await execute({ requestId, hash: other });
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining("nothing was started"),
    extensions: {
      code: "PLAN_STALE",
      retryable: false,
      requestId,
      planId,
      version: 1,
      planHash: hash,
      remedy: expect.stringContaining("planHash"),
    },
  });
  expect((await running.store.getPlan("default", planId as never))?.status).toBe("READY");
  expect(running.offered).toEqual([]);
});

test("an amended plan is not started by the hash of the earlier version", async () => {
  const { requestId, planId, hash } = await ready();
  const [author] = BLOG_PLAN.steps;
  const { body } = await running.graphql(
    "mutation ($id: ID!, $plan: JSON!) { amendPlan(requestId: $id, plan: $plan) { request { planId plan { planHash } } } }",
    { id: requestId, plan: { steps: [author] } },
  );
  const amended = body.data.amendPlan.request;
  expect((await execute({ requestId, hash })).errors[0].extensions).toMatchObject({
    code: "PLAN_STALE",
    planId: amended.planId,
    version: 2,
    planHash: amended.plan.planHash,
  });
  expect((await execute({ planId, hash })).errors[0].extensions.code).toBe("STATE_CONFLICT");
  expect(await execute({ requestId, hash: amended.plan.planHash })).toMatchObject({
    data: { executePlan: { status: "EXECUTING" } },
  });
});

test("without a plan there is nothing to start", async () => {
  const { hash } = await ready();
  const input = { tenant: "default", query: "Create author Alice", autoExecute: false };
  const { _id: requestId } = await running.store.createRequest(input);
  expect((await execute({ requestId, hash })).errors[0].extensions.code).toBe("NOT_READY");
  await askAs(running.store, requestId, ["Which email?"]);
  expect((await execute({ requestId, hash })).errors[0].extensions.code).toBe("NEEDS_INPUT");
  const { body } = await running.graphql(SUBMIT, {
    plan: { steps: [{ id: "a", tool: "none", arguments: {} }] },
  });
  const invalid = body.errors[0].extensions;
  expect((await execute({ requestId: invalid.requestId, hash })).errors[0].extensions.code).toBe(
    "PLAN_INVALID",
  );
});

test("a plan that has ended is not started by its hash", async () => {
  for (const play of [executeAs, failAs]) {
    const { requestId, planId, hash } = await ready();
    await running.store.queuePlan("default", planId as never, requestId as never);
    await play(running.store, planId as never);
    expect((await execute({ requestId, hash })).errors[0].extensions.code).toBe("STATE_CONFLICT");
  }
});
