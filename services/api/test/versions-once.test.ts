/**
 * A retried call creates no further version of a plan: two APIs, one of them a process, over one
 * database.
 */
import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { addressOf, startApi, startApiProcess } from "./api-process.ts";
import { bearer } from "./keys.ts";
import { type Answer, type ApiClient, BLOG_PLAN, BLOG_TOOLS, createApiClient } from "./running-api.ts";
import { executeAs, failAs } from "./workers.ts";

let store: Store;
let clients: [ApiClient, ApiClient];
beforeAll(async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  store = await createStore({ url: mongodbUrl });
  await store.publishTools(
    "blog",
    BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name })),
  );
  const ends: (() => Promise<void> | void)[] = [];
  const addEnd = (end: () => Promise<void> | void): void => void ends.push(end);
  const settings = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix };
  const child = startApiProcess(settings, addEnd);
  clients = [createApiClient(await startApi(settings, addEnd)), createApiClient(await addressOf(child))];
  return async () => {
    for (const end of ends) await end();
    await store.close();
  };
});

const CALLS = {
  rerun: `mutation ($id: ID!, $from: ID, $accept: [ID!], $execute: Boolean! = true, $version: Int, $key: String) {
    again: rerun(requestId: $id, from: $from, acceptRepeat: $accept, execute: $execute, fromVersion: $version, idempotencyKey: $key) { version planId status } }`,
  replan: `mutation ($id: ID!, $execute: Boolean! = true, $version: Int, $key: String) {
    again: replan(requestId: $id, execute: $execute, fromVersion: $version, idempotencyKey: $key) { version replans status } }`,
};

async function submitted(play: typeof failAs, headers = {}): Promise<{ id: string; planId: string }> {
  const { body } = await clients[0].graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { id planId } }",
    { plan: BLOG_PLAN },
    headers,
  );
  await play(store, body.data.submitPlan.planId);
  return body.data.submitPlan;
}

/** The same call at both processes at once, many times. */
const atOnce = (query: string, variables: object): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: 16 }, (_, index) => (clients[index % 2] ?? clients[0]).graphql(query, variables)),
  );

test("a rerun whose answer was lost repeats no effect: a retry with the same key returns the first version", async () => {
  const { id } = await submitted(executeAs);
  const variables = { id, from: "createAuthor", accept: ["createAuthor", "createBlog"], key: "lost" };
  const answers = await atOnce(CALLS.rerun, variables);
  const versions = new Set(answers.map(({ body }) => JSON.stringify(body.data.again)));
  expect(versions.size).toBe(1);
  const [made] = answers.map(({ body }) => body.data.again);
  expect(made).toMatchObject({ version: 2, status: "EXECUTING" });
  await executeAs(store, made.planId);
  const later = await clients[1].graphql(CALLS.rerun, variables);
  expect(later.body.data.again).toEqual({ version: 2, planId: made.planId, status: "COMPLETED" });
  expect(await store.listPlanHeadsOf("default", [id as never])).toHaveLength(2);
});

test("a replan whose answer was lost is counted and made once", async () => {
  const { id } = await submitted(failAs);
  const answers = await atOnce(CALLS.replan, { id, key: "lost" });
  for (const { body } of answers)
    expect(body.data.again).toEqual({ version: 1, replans: 1, status: "PLANNING" });
});

describe.each(["rerun", "replan"] as const)("%s", (operation) => {
  test("from a version that is no longer current is refused with the current version", async () => {
    const { id } = await submitted(failAs);
    const { body } = await clients[0].graphql(CALLS.rerun, { id, version: 1 });
    const { planId } = body.data.again;
    await failAs(store, planId);
    const stale = await clients[1].graphql(CALLS[operation], { id, version: 1 });
    expect(stale.body.errors[0].extensions).toMatchObject({
      code: "STATE_CONFLICT",
      currentVersion: 2,
      planId,
      remedy: expect.stringContaining("fromVersion: 2"),
    });
    const current = await clients[1].graphql(CALLS[operation], { id, version: 2 });
    expect(current.body.errors).toBeUndefined();
  });

  test.each([
    ["another value of execute", { execute: false }],
    ["a version", { version: 1 }],
  ])("with %s under the same key is refused", async (_, more) => {
    const { id } = await submitted(failAs);
    const key = `other ${id}`;
    await clients[0].graphql(CALLS[operation], { id, key });
    const { body } = await clients[1].graphql(CALLS[operation], { id, key, ...more });
    expect(body.errors[0].extensions).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED", requestId: id });
  });

  test("of another request with the same key is refused, and keys are separate for each tenant", async () => {
    const [one, two] = [await submitted(failAs), await submitted(failAs)];
    const key = `shared ${one.id}`;
    await clients[0].graphql(CALLS[operation], { id: one.id, key });
    const { body } = await clients[1].graphql(CALLS[operation], { id: two.id, key });
    expect(body.errors[0].extensions).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED", requestId: one.id });
    const headers = await bearer(store, ["admin"], { tenant: "other" });
    const theirs = await submitted(failAs, headers);
    const answer = await clients[1].graphql(CALLS[operation], { id: theirs.id, key }, headers);
    expect(answer.body.errors).toBeUndefined();
  });
});
