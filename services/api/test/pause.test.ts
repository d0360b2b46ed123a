import { findDue } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

async function submitted(execute = true): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { requestId planId } }",
    { plan: BLOG_PLAN, execute },
  );
  return body.data.submitPlan;
}

const ask = async (field: "pause" | "resume", requestId: string) => {
  const { body } = await running.graphql(
    `mutation ($id: ID!) { ${field}(requestId: $id) { status plan { status waitReason pauseRequestedAt steps { waitReason } } } }`,
    { id: requestId },
  );
  return body;
};

test("pause stops a queued plan, and resume offers it to the executors", async () => {
  const { requestId, planId } = await submitted();
  const { data } = await ask("pause", requestId);
  expect(data.pause).toMatchObject({
    status: "EXECUTING",
    plan: { status: "PAUSED", waitReason: "paused", pauseRequestedAt: expect.any(String) },
  });
  expect(data.pause.plan.steps[0]).toEqual({ waitReason: "paused" });
  expect(await findDue(running.store.planLeases, 100)).not.toContain(planId);
  running.offered.length = 0;
  const resumed = await ask("resume", requestId);
  expect(resumed.data.resume.plan).toMatchObject({ status: "QUEUED", pauseRequestedAt: null });
  expect(running.offered).toEqual([`execution ${planId}`]);
  await executeAs(running.store, planId);
});

test("pause of a running plan is recorded for its executor", async () => {
  const { requestId, planId } = await submitted();
  await running.store.claimPlan(planId, "executor");
  const { data } = await ask("pause", requestId);
  expect(data.pause.plan).toMatchObject({ status: "RUNNING", pauseRequestedAt: expect.any(String) });
});

test.each([
  ["pause", "paused"],
  ["resume", "resumed"],
] as const)(
  "%s of a plan that was not started, is being cancelled, or has ended reports that nothing was %s",
  async (field, done) => {
    const ready = await submitted(false);
    const ended = await submitted();
    await executeAs(running.store, ended.planId);
    const ending = await submitted();
    await running.store.claimPlan(ending.planId, "executor");
    await running.graphql("mutation ($id: ID!) { cancel(requestId: $id) { id } }", { id: ending.requestId });
    for (const [{ requestId }, status, remedy] of [
      [ready, "READY", "executePlan"],
      [ended, "COMPLETED", "outputs"],
      [ending, "RUNNING", "rerun"],
    ] as const) {
      const { errors } = await ask(field, requestId);
      expect(errors[0]).toMatchObject({
        message: expect.stringContaining(`nothing was ${done}`),
        extensions: { code: "STATE_CONFLICT", status, remedy: expect.stringContaining(remedy) },
      });
    }
  },
);

test("pause may be repeated; resume of a running plan is refused", async () => {
  const { requestId } = await submitted();
  const paused = await ask("pause", requestId);
  expect(await ask("pause", requestId)).toEqual(paused);
  expect((await ask("resume", requestId)).errors).toBeUndefined();
  const { errors } = await ask("resume", requestId);
  expect(errors[0]).toMatchObject({
    message: "The plan is QUEUED and not paused: nothing was resumed",
    extensions: { code: "STATE_CONFLICT", status: "QUEUED" },
  });
});

test("pause and resume during planning are refused, to be retried later", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "pause early") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  for (const field of ["pause", "resume"] as const) {
    const { errors } = await ask(field, requestId);
    expect(errors[0].extensions).toMatchObject({ code: "NOT_READY", retryable: true });
  }
});
