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

async function say(requestId: string, word: object) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $key: ID!, $resolution: InDoubtResolution!, $output: JSON, $reason: String, $attempt: Int) {
       resolveInDoubt(requestId: $id, stepKey: $key, resolution: $resolution, output: $output, reason: $reason, attempt: $attempt) {
         status plan { status waitReason resolutions { stepKey attempt resolution by }
         steps { status output settled { resolution by at } error { code message remedy } } } } }`,
    { id: requestId, key: "createAuthor", ...word },
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
])("%j is recorded for the attempt in doubt and offered to the executors", async (word, resolution) => {
  const { requestId, planId } = await submitted(doubtAs);
  const { data } = await say(requestId, word);
  expect(data.resolveInDoubt.plan).toMatchObject({
    status: "WAITING",
    waitReason: "in doubt",
    resolutions: [{ stepKey: "createAuthor", attempt: 1, resolution: resolution.type, by: "anonymous" }],
  });
  const [{ error }] = data.resolveInDoubt.plan.steps;
  expect(error.remedy).toContain("say so with resolveInDoubt");
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

test("a doubt is settled once, and for the attempt that was looked at", async () => {
  const { requestId } = await submitted(doubtAs);
  const early = await say(requestId, { resolution: "retry", attempt: 2 });
  expect(early.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", status: "IN_DOUBT" });
  await say(requestId, { resolution: "retry" });
  const late = await say(requestId, { resolution: "failed", reason: "no" });
  expect(late.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", remedy: expect.any(String) });
});

test("in a plan that has ended the step gets its last state, and no executor is told", async () => {
  const { requestId } = await submitted(cancelInDoubtAs);
  const { data } = await say(requestId, { resolution: "completed", output: { _id: "a1" } });
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
  "%j in a plan that is over is told as the operator's word, not as the tool's",
  async (word, code, said) => {
    const { requestId } = await submitted(cancelInDoubtAs);
    const { data } = await say(requestId, word);
    expect(data.resolveInDoubt.plan.steps[0]).toMatchObject({
      status: "FAILED",
      settled: { resolution: word.resolution },
      error: {
        code,
        message: expect.stringContaining(`An operator (anonymous) ${said}`),
        remedy: expect.stringContaining("rerun the plan"),
      },
    });
  },
);

test("after an operator had it called again, the tool's own word counts", async () => {
  const { requestId, planId } = await submitted(doubtAs);
  await say(requestId, { resolution: "retry" });
  const claim = await claimOnceDue(running.store, planId);
  await playStep(running.store, claim, "createAuthor", { arguments: {}, output: { _id: "a2" } }, 2);
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { plan { steps { status settled { by } } } } }",
    { id: requestId },
  );
  expect(body.data.request.plan.steps[0]).toEqual({ status: "COMPLETED", settled: null });
});

test("what is not in doubt, not there, or too large is refused", async () => {
  const { requestId } = await submitted(doubtAs);
  const codeOf = async (word: object) => (await say(requestId, word)).errors[0].extensions.code;
  expect(await codeOf({ key: "createBlog", resolution: "retry" })).toBe("STATE_CONFLICT");
  expect(await codeOf({ key: "createAuthor[0]", resolution: "retry" })).toBe("NOT_FOUND");
  const large = { text: "x".repeat(40_000) };
  expect(await codeOf({ resolution: "completed", output: large })).toBe("BAD_USER_INPUT");
});
