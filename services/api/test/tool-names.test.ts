import { toolDigest } from "@planwright/plan";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_TOOLS, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const [createAuthor] = BLOG_TOOLS;
const AUTHOR = { name: "Alice", email: "alice@test.com" };
const SUBMIT = `mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }`;
const submit = (tool: string, more: object = {}) =>
  running.graphql(SUBMIT, { plan: { steps: [{ id: "a", tool, arguments: AUTHOR }], ...more } });
const stored = async (planId: string) =>
  (await running.store.getPlan("default", planId as Parameters<typeof running.store.getPlan>[1]))!;

test("a plan is stored with the digests of the tools it was checked against, which a client cannot set", async () => {
  const { body } = await submit("createAuthor");
  const plan = await stored(body.data.submitPlan.planId);
  expect(plan.toolPins).toEqual([
    expect.objectContaining({
      tool: "createAuthor",
      server: "blog",
      name: "createAuthor",
      digest: toolDigest(createAuthor!),
    }),
  ]);
  const refused = await submit("createAuthor", { toolPins: plan.toolPins });
  expect(refused.body.errors[0].extensions).toMatchObject({ code: "PLAN_INVALID" });
  expect(JSON.stringify(refused.body.errors)).toContain("FIELD_UNKNOWN");
});

test("a tool name of two servers is shown with its server everywhere, and without a server is refused with both choices", async () => {
  const digest = "0".repeat(64);
  await running.store.publishTools("wiki", [{ descriptor: { ...createAuthor!, server: "wiki" }, digest }]);
  const { body: list } = await running.graphql("{ tools: getAvailableTools { name server } }");
  expect(list.data.tools).toEqual(
    expect.arrayContaining([
      { name: "blog/createAuthor", server: "blog" },
      { name: "wiki/createAuthor", server: "wiki" },
      { name: "createBlog", server: "blog" },
    ]),
  );
  const { body } = await submit("wiki/createAuthor");
  const { plan, toolPins } = await stored(body.data.submitPlan.planId);
  expect(plan?.steps[0]).toMatchObject({ tool: "wiki/createAuthor" });
  expect(toolPins).toMatchObject([{ tool: "wiki/createAuthor", server: "wiki", name: "createAuthor" }]);

  const refused = await submit("createAuthor");
  const [error] = refused.body.errors;
  expect(error.extensions.code).toBe("PLAN_INVALID");
  expect(JSON.stringify(error)).toContain("TOOL_AMBIGUOUS");
  expect(JSON.stringify(error)).toContain("blog/createAuthor, wiki/createAuthor");
});
