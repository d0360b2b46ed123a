import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BLOG_PLAN, BLOG_TOOLS, type RunningApi, startTestApi } from "./running-api.ts";
import { executeAs, failAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const AMEND = `mutation ($id: ID!, $plan: JSON, $patch: JSON, $restoreVersion: Int, $execute: Boolean! = false, $fromVersion: Int, $key: String) {
  amendPlan(requestId: $id, plan: $plan, patch: $patch, restoreVersion: $restoreVersion, execute: $execute, fromVersion: $fromVersion, idempotencyKey: $key) {
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

test("a plan that was not started is amended before it runs, and the old version never runs", async () => {
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
  expect(body.errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "SUPERSEDED",
    // The current version was not started: a rerun of it would be refused.
    remedy: expect.stringMatching(
      /^Version 2 is current, plan_\w+: executePlan\(requestId\) starts it if it is READY, and rerun/,
    ),
  });
});

test("unchanged steps of an ended plan keep their outputs, and the answer lists the effects that are not repeated", async () => {
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

test("the plan of an earlier version is restored unchanged, and the steps that any version completed are kept", async () => {
  const { requestId } = await submitted(true, executeAs);
  await amend(requestId, { steps: [author, { ...titled("Other").steps[1], id: "other" }] });
  const restored = await running.graphql(AMEND, { id: requestId, restoreVersion: 1, fromVersion: 2 });
  expect(restored.body.data.amendPlan.request).toMatchObject({
    version: 3,
    status: "READY",
    plan: {
      steps: [
        { id: "createAuthor", status: "COMPLETED", carriedFrom: expect.any(String) },
        { id: "createBlog", status: "COMPLETED", carriedFrom: expect.any(String) },
      ],
    },
  });
  const { body } = await running.graphql(AMEND, { id: requestId, restoreVersion: 7 });
  expect(body.errors[0]).toMatchObject({
    message: "The request has no version 7 with a plan that can be used again",
    extensions: { code: "BAD_USER_INPUT", argument: "restoreVersion" },
  });
});

test("a plan that cannot run is refused with all diagnostics, and nothing is stored", async () => {
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

test("an amendment is refused while the plan continues, and for a version that is no longer current", async () => {
  const continuing = await submitted(true);
  const { errors } = await amend(continuing.requestId, titled("Late"));
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining("only a plan that has ended or was not started can be amended"),
    extensions: { code: "STATE_CONFLICT", status: "QUEUED" },
  });
  const ready = await submitted(false);
  await amend(ready.requestId, titled("Second"), { fromVersion: 1 });
  const late = await amend(ready.requestId, titled("Third"), { fromVersion: 1 });
  expect(late.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", currentVersion: 2 });
});

test("a repeated call with the same key creates no further version", async () => {
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

test("a repeated call with the same key gets the same answer after the tools have changed, and is not checked again", async () => {
  const { requestId } = await submitted(false);
  await amend(requestId, titled("Better"), { key: "k2" });
  const tools = BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name }));
  await running.store.publishTools("blog", []);
  onTestFinished(() => running.store.publishTools("blog", tools));
  // A plan that does not fit the cached tools makes the service read the tools again.
  await amend(requestId, [{ id: "a", tool: "noSuchTool", arguments: {} }]);
  const again = await amend(requestId, titled("Better"), { key: "k2" });
  expect(again.errors).toBeUndefined();
  expect(again.data.amendPlan).toMatchObject({ carried: null, request: { version: 2 } });
});

const byPatch = (requestId: string, patch: object[], more: object = {}) =>
  amend(requestId, undefined, { patch, fromVersion: 1, ...more });
const retitle = { op: "replace", path: "/steps/1/arguments/title", value: "Patched" };

test("a patch changes only the values at its paths", async () => {
  const { requestId } = await submitted(true, executeAs);
  const { data } = await byPatch(requestId, [
    { op: "test", path: "/steps/1/id", value: "createBlog" },
    retitle,
  ]);
  expect(data.amendPlan).toMatchObject({ carried: ["createAuthor"], repeated: ["createBlog"] });
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { plans { document } } }",
    {
      id: requestId,
    },
  );
  const [patched, before] = body.data.request.plans.map(({ document }: { document: object }) => document);
  const expected = structuredClone(before);
  expected.steps[1].arguments.title = "Patched";
  expect(patched).toEqual(expected);
});

test("the error names the operation that cannot be applied, and nothing is stored", async () => {
  const { requestId } = await submitted(false);
  const { errors } = await byPatch(requestId, [retitle, { op: "remove", path: "/steps/7" }]);
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining('Operation 1 of the patch (remove "/steps/7")'),
    extensions: { code: "BAD_USER_INPUT", argument: "patch[1]", remedy: expect.stringContaining("document") },
  });
  const unknown = await byPatch(requestId, [{ op: "replace", path: "/steps/1/tool", value: "none" }]);
  expect(unknown.errors[0].extensions).toMatchObject({ code: "PLAN_INVALID", stored: false });
  expect(await running.store.getRequest("default", requestId as never)).toMatchObject({ version: 1 });
});

test("a patch for another version is refused, and a patch repeated with the same key is applied once", async () => {
  const { requestId } = await submitted(false);
  const first = await byPatch(requestId, [retitle], { key: `patch-${requestId}` });
  expect(first.data.amendPlan.request.version).toBe(2);
  const again = await byPatch(requestId, [retitle], { key: `patch-${requestId}` });
  expect(again.data.amendPlan.request.version).toBe(2);
  const late = await byPatch(requestId, [retitle]);
  expect(late.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", currentVersion: 2 });
  const other = await byPatch(requestId, [{ ...retitle, value: "Other" }], { key: `patch-${requestId}` });
  expect(other.errors[0].extensions).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
});

test("a plan in planning, or one that was never valid, cannot be patched", async () => {
  const input = { tenant: "default", query: "Create author Alice", autoExecute: false };
  const { _id: planning } = await running.store.createRequest(input);
  expect((await byPatch(planning, [retitle])).errors[0].extensions.code).toBe("NOT_READY");
  const { body } = await running.graphql("mutation ($plan: JSON!) { submitPlan(plan: $plan) { id } }", {
    plan: [{ id: "a", tool: "none" }],
  });
  const { requestId } = body.errors[0].extensions;
  expect((await byPatch(requestId, [retitle])).errors[0].extensions.code).toBe("PLAN_INVALID");
});
