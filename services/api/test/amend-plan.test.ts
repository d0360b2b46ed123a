import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BLOG_PLAN, BLOG_TOOLS, type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs, failAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const AMEND = `mutation ($id: ID!, $plan: JSON!, $execute: Boolean! = false, $fromVersion: Int, $key: String) {
  amendPlan(requestId: $id, plan: $plan, execute: $execute, fromVersion: $fromVersion, idempotencyKey: $key) {
    carried repeated notRepeated request { requestId version status plan { id status steps { id status carriedFrom } } plans { version status } } } }`;

async function submitted(
  execute: boolean,
  play?: typeof failAs,
): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { requestId planId } }",
    { plan: BLOG_PLAN, execute },
  );
  const ids = body.data.submitPlan;
  await play?.(running.store, ids.planId);
  running.offered.length = 0;
  return ids;
}

const amend = async (requestId: string, plan: unknown, more: object = {}) =>
  (await running.graphql(AMEND, { id: requestId, plan, ...more })).body;

const [author, blog] = BLOG_PLAN.steps;
const titled = (title: string) => ({
  steps: [author, { ...blog, arguments: { ...blog!.arguments, title } }],
});

test("a plan that was not started is amended before it runs, and never runs itself", async () => {
  const { requestId, planId } = await submitted(false);
  const { data } = await amend(requestId, titled("Better"), { fromVersion: 1 });
  expect(data.amendPlan).toMatchObject({
    carried: [],
    repeated: [],
    notRepeated: [],
    request: {
      version: 2,
      status: "READY",
      plans: [
        { version: 2, status: "READY" },
        { version: 1, status: "SUPERSEDED" },
      ],
    },
  });
  expect(running.offered).toEqual([]);
  const { body } = await running.graphql("mutation ($id: ID!) { executePlan(planId: $id) { id } }", {
    id: planId,
  });
  expect(body.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", status: "SUPERSEDED" });
});

test("of a plan that ended the steps that stay keep what they gave, and the answer says which effects are not repeated", async () => {
  const { requestId, planId } = await submitted(true, executeAs);
  const { data } = await amend(requestId, titled("Better"), { execute: true });
  const { request, ...lists } = data.amendPlan;
  expect(lists).toEqual({
    carried: ["createAuthor"],
    repeated: ["createBlog"],
    notRepeated: ["createAuthor"],
  });
  expect(request).toMatchObject({ version: 2, status: "EXECUTING", plan: { status: "QUEUED" } });
  expect(request.plan.steps).toMatchObject([
    { id: "createAuthor", status: "COMPLETED", carriedFrom: planId },
    { id: "createBlog", status: "PENDING", carriedFrom: null },
  ]);
  expect(running.offered).toEqual([`execution ${request.plan.id}`]);
});

test("a plan that cannot run is refused with every finding, and nothing is stored", async () => {
  const { requestId, planId } = await submitted(false);
  const { errors } = await amend(requestId, [{ id: "a", tool: "noSuchTool", arguments: {} }]);
  expect(errors[0].extensions).toMatchObject({
    code: "PLAN_INVALID",
    requestId,
    planId,
    remedy: expect.stringContaining("nothing was stored"),
    diagnostics: [{ code: "TOOL_UNKNOWN" }],
  });
  expect(await running.store.getRequest("default", requestId as never)).toMatchObject({
    version: 1,
    status: "READY",
  });
});

test("it is refused while the plan goes on, and for a version that is not current any more", async () => {
  const going = await submitted(true);
  const { errors } = await amend(going.requestId, titled("Late"));
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining("only a plan that has ended or was not started can be amended"),
    extensions: { code: "STATE_CONFLICT", status: "QUEUED" },
  });
  const ready = await submitted(false);
  await amend(ready.requestId, titled("Second"), { fromVersion: 1 });
  const late = await amend(ready.requestId, titled("Third"), { fromVersion: 1 });
  expect(late.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", currentVersion: 2 });
});

test("sent again under its key it makes nothing more", async () => {
  const { requestId } = await submitted(false);
  const once = await amend(requestId, titled("Better"), { key: "k1" });
  const again = await amend(requestId, titled("Better"), { key: "k1" });
  expect(once.data.amendPlan.request.version).toBe(2);
  expect(again.data.amendPlan).toMatchObject({
    carried: null,
    repeated: null,
    notRepeated: null,
    request: { version: 2 },
  });
  const other = await amend(requestId, titled("Other"), { key: "k1" });
  expect(other.errors[0].extensions).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
});

test("sent again under its key after the tools have changed it is answered as before, and not checked again", async () => {
  const { requestId } = await submitted(false);
  await amend(requestId, titled("Better"), { key: "k2" });
  const tools = BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name }));
  await running.store.publishTools("blog", []);
  onTestFinished(() => running.store.publishTools("blog", tools));
  // A plan that does not fit the tools that the service knows has it read them again.
  await amend(requestId, [{ id: "a", tool: "noSuchTool", arguments: {} }]);
  const again = await amend(requestId, titled("Better"), { key: "k2" });
  expect(again.errors).toBeUndefined();
  expect(again.data.amendPlan).toMatchObject({ carried: null, request: { version: 2 } });
});
