import type { JsonValue } from "@planwright/plan";
import type { ClientStore } from "@planwright/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReads } from "../src/graphql/reads.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { playStep } from "./workers.ts";

const KIB = 1_024;
let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const author = { _id: "a1", biography: "x".repeat(300 * KIB) };
const blog = { _id: "b1", $ref: "blogs", $id: "b1", "a\0b": 1 };

async function executed(): Promise<string> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { planId } }",
    { plan: BLOG_PLAN },
  );
  const { planId } = body.data.submitPlan;
  const claim = (await running.store.claimPlan(planId, "test executor"))!;
  const outputs: { [stepId: string]: JsonValue } = { createAuthor: author, createBlog: blog };
  const args = { createAuthor: { name: "Alice" }, createBlog: { content: "y".repeat(40 * KIB) } };
  for (const stepId of ["createAuthor", "createBlog"] as const) {
    await playStep(running.store, claim, stepId, { arguments: args[stepId], output: outputs[stepId]! });
  }
  await running.store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
  return planId;
}

test("outputs read the same wherever they stand", async () => {
  const planId = await executed();
  const { body } = await running.graphql(
    "query ($id: ID!) { plan(id: $id) { outputs executionResults steps { id output } } }",
    { id: planId },
  );
  const { plan } = body.data;
  expect(plan.outputs).toEqual({ createAuthor: author, createBlog: blog });
  expect(plan.steps).toEqual([
    { id: "createAuthor", output: author },
    { id: "createBlog", output: blog },
  ]);
  expect(JSON.parse(plan.executionResults)).toMatchObject([{ output: author }, { output: blog }]);
});

test("of large arguments a preview can be read", async () => {
  const planId = await executed();
  const { body } = await running.graphql(
    "query ($id: ID!) { plan(id: $id) { steps { resolvedArguments resolvedArgumentsPreview { sizeBytes hash text } } } }",
    { id: planId },
  );
  expect(body.data.plan.steps).toEqual([
    { resolvedArguments: { name: "Alice" }, resolvedArgumentsPreview: null },
    {
      resolvedArguments: null,
      resolvedArgumentsPreview: {
        sizeBytes: 40 * KIB + 14,
        hash: "test",
        text: expect.stringMatching(/^\{"content":"y+$/),
      },
    },
  ]);
});

test("the outputs that stand aside are read together, and once", async () => {
  const planId = await executed();
  const asked: number[] = [];
  const store: ClientStore = {
    ...running.store,
    readOutputs: (tenant, refs) => {
      asked.push(refs.length);
      return running.store.readOutputs(tenant, refs);
    },
  };
  const reads = createReads(store, "default");
  const steps = await reads.steps(planId);
  await Promise.all(steps.map((step) => reads.output(step)));
  await reads.wholeSteps(planId);
  expect(asked).toEqual([2]);
});
