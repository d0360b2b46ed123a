import { createStore } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { startApi } from "./api-process.ts";
import { BLOG_TOOLS, createApiClient } from "./running-api.ts";

const PLAN = {
  steps: [
    {
      id: "a",
      tool: "createAuthor",
      arguments: { name: "Alice", email: "alice@test.com" },
      timeoutMs: 500_000,
    },
  ],
};

test("a timeout above MAX_STEP_TIMEOUT_MS is reported with both numbers, by validatePlan and permanently in debugBundle", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const store = await createStore({ url: mongodbUrl });
  onTestFinished(() => store.close());
  await store.publishTools(
    "blog",
    BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name })),
  );
  const settings = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix };
  const client = createApiClient(await startApi({ ...settings, MAX_STEP_TIMEOUT_MS: "400000" }));
  const warning = {
    code: "STEP_TIMEOUT_CUT",
    message: expect.stringMatching(/timeoutMs of 500000 and gets 400000/),
  };
  const checked = await client.graphql(
    "query ($plan: JSON!) { validatePlan(plan: $plan) { valid diagnostics { code message } } }",
    { plan: PLAN },
  );
  expect(checked.body.data.validatePlan).toEqual({ valid: true, diagnostics: [warning] });
  const submitted = await client.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { id } }",
    { plan: PLAN },
  );
  const bundle = await client.graphql("query ($id: ID!) { debugBundle(requestId: $id) }", {
    id: submitted.body.data.submitPlan.id,
  });
  expect(bundle.text).toContain("timeoutMs of 500000 and gets 400000");
});
