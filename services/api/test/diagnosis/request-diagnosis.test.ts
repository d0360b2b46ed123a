/** Request.diagnosis as a client reads it: from recorded data, also in lists. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BLOG_PLAN, BLOG_TOOLS, type RunningApi, startTestApi } from "../running-api.ts";
import { APPROVAL_HASH, askApprovalAs, doubtAs, failAs, failChangedAs } from "../workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const DIAGNOSIS = `diagnosis {
  cause { code severity message errorCode } reasons stepKeys since next { description operation arguments command }
}`;

async function submit(execute: boolean, play?: typeof failAs): Promise<string> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { requestId planId } }",
    { plan: BLOG_PLAN, execute },
  );
  const { requestId, planId } = body.data.submitPlan;
  await play?.(running.store, planId);
  return requestId;
}

async function diagnosisOf(requestId: string) {
  const document = `query ($id: ID!) { request(requestId: $id) { ${DIAGNOSIS} } }`;
  return (await running.graphql(document, { id: requestId })).body.data.request.diagnosis;
}

test("the first action for a plan that was not started is to start it", async () => {
  const requestId = await submit(false);
  expect(await diagnosisOf(requestId)).toEqual({
    cause: {
      code: "NOT_STARTED",
      severity: "ATTENTION",
      message: "the plan is stored and was not started",
      errorCode: null,
    },
    reasons: ["Its execution was not requested yet."],
    stepKeys: [],
    since: expect.stringMatching(/^20.*Z$/),
    next: [
      {
        description: "Start it:",
        operation: "executePlan",
        arguments: { requestId },
        command: ["execute", requestId],
      },
    ],
  });
});

test("a queued plan without an executor shows since when, and that nothing is lost", async () => {
  const { cause, since, next } = await diagnosisOf(await submit(true));
  expect(cause).toMatchObject({ code: "NO_EXECUTOR", severity: "ATTENTION" });
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
  expect(next[0].description).toContain("nothing is lost");
});

test("a step that waits for an approval shows its call and the hash to approve", async () => {
  const requestId = await submit(true, askApprovalAs);
  const { cause, stepKeys, next } = await diagnosisOf(requestId);
  expect(cause.code).toBe("APPROVAL_NEEDED");
  expect(stepKeys).toEqual(["createAuthor"]);
  expect(next).toMatchObject([
    { operation: "approve", arguments: { requestId, approvalHash: APPROVAL_HASH, approved: true } },
    { operation: "approve", arguments: { requestId, approvalHash: APPROVAL_HASH, approved: false } },
  ]);
});

test("the suggested mutation settles a call in doubt", async () => {
  const requestId = await submit(true, doubtAs);
  const { cause, next } = await diagnosisOf(requestId);
  expect(cause.code).toBe("IN_DOUBT");
  expect(next.map(({ operation }: { operation: string }) => operation)).toContain("resolveInDoubt");
});

test("a failed step is the cause in a list of requests too", async () => {
  const requestId = await submit(true, failAs);
  const document = `{ requests(filter: { status: [FAILED] }) { nodes { requestId ${DIAGNOSIS} } } }`;
  const { nodes } = (await running.graphql(document)).body.data.requests;
  expect(nodes).toMatchObject([{ requestId, diagnosis: { cause: { code: "STEP_FAILED" } } }]);
  expect(nodes[0].diagnosis.next.at(-1)).toMatchObject({ operation: "rerun", arguments: { requestId } });
});

test("a tool that has changed is compared with the plan as it is now, not as it was when the plan was submitted", async () => {
  const published = BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name }));
  const changed = published.map((tool) =>
    tool.digest === "createAuthor"
      ? {
          digest: "changed",
          descriptor: {
            ...tool.descriptor,
            inputSchema: { type: "object", required: ["name", "email", "weight"] },
          },
        }
      : tool,
  );
  onTestFinished(() => running.store.publishTools("blog", published));
  const requestId = await submit(true, async (store, planId) => {
    await store.publishTools("blog", changed);
    await failChangedAs(store, planId);
  });
  const { next } = await diagnosisOf(requestId);
  expect(next[0].description).toMatch(/^createAuthor now requires weight:/);
});

test("a plan that waits for the next try of a call is not said to continue by itself while no executor is alive", async () => {
  const requestId = await submit(true, async (store, planId) => {
    const claim = (await store.claimPlan(planId, "test executor"))!;
    await store.releasePlan(claim, { status: "WAITING", reason: "backoff", dueAtMs: Date.now() + 3_600_000 });
  });
  expect((await diagnosisOf(requestId)).cause.code).toBe("NO_EXECUTOR");
  await running.store.addWorker({ _id: "executor alive", kind: "executor", deadAfterMs: 3_600_000 });
  onTestFinished(() => running.store.removeWorker("executor alive"));
  await expect
    .poll(async () => (await diagnosisOf(requestId)).cause.code, { timeout: 10_000 })
    .toBe("RUNNING");
});
