import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { cancelInDoubtAs, claimOnceDue, doubtAs, playStep } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

async function submitted(play: typeof doubtAs): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  const ids = body.data.submitPlan;
  await play(running.store, ids.planId);
  running.offered.length = 0;
  return ids;
}

async function resolve(requestId: string, decision: object) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $key: ID!, $resolution: InDoubtResolution!, $output: JSON, $reason: String, $attempt: Int) {
       resolveInDoubt(requestId: $id, stepKey: $key, resolution: $resolution, output: $output, reason: $reason, attempt: $attempt) {
         status plan { status waitReason resolutions { stepKey attempt resolution by }
         steps { status output settled { resolution by at } error { code message remedy } } } } }`,
    { id: requestId, key: "createAuthor", ...decision },
  );
  return body;
}

test.each([
  [
    { resolution: "completed", output: { _id: "a1" } },
    { type: "completed", output: { _id: "a1" } },
  ],
  [
    { resolution: "completed", output: null },
    { type: "completed", output: null },
  ],
  [
    { resolution: "failed", reason: " $no " },
    {
      type: "failed",
      error: {
        code: "SETTLED_AS_FAILED",
        message: "An operator (anonymous) said that the call failed: $no",
        retryable: false,
      },
    },
  ],
  [{ resolution: "retry", attempt: 1 }, { type: "retry" }],
])("%j is recorded for the attempt in doubt and offered to the executors", async (decision, resolution) => {
  const { requestId, planId } = await submitted(doubtAs);
  const { data } = await resolve(requestId, decision);
  expect(data.resolveInDoubt.plan).toMatchObject({
    status: "WAITING",
    waitReason: "in doubt",
    resolutions: [{ stepKey: "createAuthor", attempt: 1, resolution: resolution.type, by: "anonymous" }],
  });
  const [{ error }] = data.resolveInDoubt.plan.steps;
  expect(error.remedy).toContain("and settle it.");
  expect(error.remedy).not.toContain("rerun");
  expect(data.resolveInDoubt.plan.steps[0].settled).toEqual({
    resolution: resolution.type,
    by: "anonymous",
    at: expect.any(String),
  });
  const [head] = await running.store.getPlanHeads("default", [planId]);
  expect(head?.resolutions).toMatchObject([{ key: "createAuthor", attempt: 1, resolution, by: "anonymous" }]);
  expect(running.offered).toEqual([`execution ${planId}`]);
});

test("a doubt is settled once, and for the attempt that the operator has seen", async () => {
  const { requestId } = await submitted(doubtAs);
  const early = await resolve(requestId, { resolution: "retry", attempt: 2 });
  expect(early.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", status: "IN_DOUBT" });
  await resolve(requestId, { resolution: "retry" });
  const late = await resolve(requestId, { resolution: "failed", reason: "no" });
  expect(late.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", remedy: expect.any(String) });
});

test("in an ended plan the step gets its final state, and the plan is not offered to executors", async () => {
  const { requestId } = await submitted(cancelInDoubtAs);
  const { data } = await resolve(requestId, { resolution: "completed", output: { _id: "a1" } });
  expect(data.resolveInDoubt).toMatchObject({ status: "CANCELLED", plan: { status: "CANCELLED" } });
  expect(data.resolveInDoubt.plan.steps[0]).toMatchObject({
    status: "COMPLETED",
    output: { _id: "a1" },
    error: null,
    settled: { resolution: "completed", by: "anonymous", at: expect.any(String) },
  });
  expect(data.resolveInDoubt.plan.steps[1].settled).toBeNull();
  expect(running.offered).toEqual([]);
});

test.each([
  [
    { resolution: "failed", reason: "the bank says no" },
    "SETTLED_AS_FAILED",
    "said that the call failed: the bank says no",
  ],
  [{ resolution: "retry" }, "SETTLED_AS_NOT_DONE", "said that the call of createAuthor did not happen"],
])(
  "%j in an ended plan is recorded as the operator's decision, not as the tool's result",
  async (decision, code, said) => {
    const { requestId } = await submitted(cancelInDoubtAs);
    const { data } = await resolve(requestId, decision);
    expect(data.resolveInDoubt.plan.steps[0]).toMatchObject({
      status: "FAILED",
      settled: { resolution: decision.resolution },
      error: {
        code,
        message: expect.stringContaining(`An operator (anonymous) ${said}`),
        remedy: expect.stringContaining("rerun the plan"),
      },
    });
  },
);

test("after an operator had the tool called again, the tool's result counts", async () => {
  const { requestId, planId } = await submitted(doubtAs);
  await resolve(requestId, { resolution: "retry" });
  const claim = await claimOnceDue(running.store, planId);
  await playStep(running.store, claim, "createAuthor", { arguments: {}, output: { _id: "a2" } }, 2);
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { plan { steps { status settled { by } } } } }",
    { id: requestId },
  );
  expect(body.data.request.plan.steps[0]).toEqual({ status: "COMPLETED", settled: null });
});

test("a step that is not in doubt or unknown, and a value that is too large, are refused", async () => {
  const { requestId } = await submitted(doubtAs);
  const codeOf = async (decision: object) => (await resolve(requestId, decision)).errors[0].extensions.code;
  expect(await codeOf({ key: "createBlog", resolution: "retry" })).toBe("STATE_CONFLICT");
  expect(await codeOf({ key: "createAuthor[0]", resolution: "retry" })).toBe("NOT_FOUND");
  const large = { text: "x".repeat(40_000) };
  expect(await codeOf({ resolution: "completed", output: large })).toBe("BAD_USER_INPUT");
});

async function resolveMany(requestId: string, decisions: object[]) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $decisions: [InDoubtDecision!]!) {
       resolveManyInDoubt(requestId: $id, decisions: $decisions) { plan { resolutions { stepKey resolution } } } }`,
    { id: requestId, decisions },
  );
  return body;
}

test("many decisions are recorded together, or none of them", async () => {
  const { requestId } = await submitted(doubtAs);
  const done = { stepKey: "createAuthor", resolution: "completed", output: { _id: "a1" } };
  const refused = await resolveMany(requestId, [done, { stepKey: "createBlog", resolution: "retry" }]);
  expect(refused.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", stepId: "createBlog" });
  const { data } = await resolveMany(requestId, [done]);
  expect(data.resolveManyInDoubt.plan.resolutions).toEqual([
    { stepKey: "createAuthor", resolution: "completed" },
  ]);
});

test.each<[string, object[], string]>([
  ["none", [], "decisions"],
  [
    "more than 50",
    Array.from({ length: 51 }, (_, n) => ({ stepKey: `each[${n}]`, resolution: "retry" })),
    "decisions",
  ],
  [
    "two about one call",
    Array.from({ length: 2 }, () => ({ stepKey: "createAuthor", resolution: "retry" })),
    "decisions[1].stepKey",
  ],
  ["one without its output", [{ stepKey: "createAuthor", resolution: "completed" }], "decisions[0].output"],
  [
    "one with an output that is too large",
    [{ stepKey: "createAuthor", resolution: "completed", output: { text: "x".repeat(40_000) } }],
    "decisions[0].output",
  ],
  ["one without its reason", [{ stepKey: "createAuthor", resolution: "failed" }], "decisions[0].reason"],
  [
    "one for no attempt",
    [{ stepKey: "createAuthor", resolution: "retry", attempt: 0 }],
    "decisions[0].attempt",
  ],
])("of many decisions, %s: refused by name", async (_, decisions, argument) => {
  const { requestId } = await submitted(doubtAs);
  const { errors } = await resolveMany(requestId, decisions);
  expect(errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument });
});
