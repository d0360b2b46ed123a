import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { APPROVAL_HASH, askApprovalAs, executeAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

async function submitted(): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  return body.data.submitPlan;
}

async function asking(): Promise<{ requestId: string; planId: string }> {
  const ids = await submitted();
  await askApprovalAs(running.store, ids.planId);
  running.offered.length = 0;
  return ids;
}

async function decide(requestId: string, more: object = {}) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $step: ID!, $hash: String!, $approved: Boolean! = true, $reason: String) {
       approve(requestId: $id, stepId: $step, approvalHash: $hash, approved: $approved, reason: $reason) {
         plan { approvals { stepId approved approvalHash reason by at } } } }`,
    { id: requestId, step: "createAuthor", hash: APPROVAL_HASH, ...more },
  );
  return body;
}

test("a step that waits for approval shows its arguments, its hash, and its wait reason", async () => {
  const { planId } = await asking();
  const { body } = await running.graphql(
    "query ($id: ID!) { plan(id: $id) { status waitReason steps { status waitReason resolvedArguments approvalHash approved } } }",
    { id: planId },
  );
  expect(body.data.plan).toMatchObject({ status: "WAITING", waitReason: "approval" });
  expect(body.data.plan.steps[0]).toEqual({
    status: "WAITING_APPROVAL",
    waitReason: "approval",
    resolvedArguments: { name: "Alice" },
    approvalHash: APPROVAL_HASH,
    approved: false,
  });
  expect(body.data.plan.steps[1]).toMatchObject({ approvalHash: null });
});

test("an approval is recorded with its reason, and the plan is offered to the executors", async () => {
  const { requestId, planId } = await asking();
  const { data } = await decide(requestId, { reason: "  fine with $me " });
  expect(data.approve.plan.approvals).toEqual([
    {
      stepId: "createAuthor",
      approved: true,
      approvalHash: APPROVAL_HASH,
      reason: "fine with $me",
      by: "anonymous",
      at: expect.any(String),
    },
  ]);
  expect(running.offered).toEqual([`execution ${planId}`]);
  expect((await decide(requestId)).data.approve.plan.approvals).toHaveLength(1);
});

test("a decision opposite to the recorded one is refused", async () => {
  const { requestId } = await asking();
  await decide(requestId);
  const { errors } = await decide(requestId, { approved: false });
  expect(errors[0]).toMatchObject({
    message: "Step 'createAuthor' was already approved: nothing was changed",
    extensions: { code: "STATE_CONFLICT", stepId: "createAuthor" },
  });
});

test("a step that another caller has decided is refused with that caller's name", async () => {
  const { requestId, planId } = await asking();
  await running.store.approveStep("default", planId, {
    stepId: "createAuthor",
    approved: true,
    approvalHash: APPROVAL_HASH,
    reason: null,
    by: "night shift",
  });
  const { errors } = await decide(requestId);
  expect(errors[0]).toMatchObject({
    message: "Step 'createAuthor' was already approved by night shift: nothing was changed",
    extensions: { code: "STATE_CONFLICT", stepId: "createAuthor" },
  });
});

test("a hash other than the step's is stale, and the error names the current hash", async () => {
  const { requestId } = await asking();
  const { errors } = await decide(requestId, { hash: "f".repeat(64) });
  expect(errors[0].extensions).toMatchObject({
    code: "APPROVAL_STALE",
    approvalHash: APPROVAL_HASH,
    retryable: false,
    remedy: expect.any(String),
  });
});

test("a step that does not wait, an unknown step, and an ended plan are refused", async () => {
  const { requestId, planId } = await submitted();
  expect((await decide(requestId)).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "PENDING",
  });
  expect((await decide(requestId, { step: "unknown" })).errors[0].extensions.code).toBe("NOT_FOUND");
  await executeAs(running.store, planId);
  expect((await decide(requestId)).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "COMPLETED",
  });
});
