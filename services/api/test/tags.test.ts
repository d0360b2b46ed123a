import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const CREATE = `mutation ($tags: [String!], $key: String) {
  createPlan(query: "tagged", execute: false, tags: $tags, idempotencyKey: $key) { requestId tags } }`;
const SUBMIT =
  "mutation ($plan: JSON!, $tags: [String!]) { submitPlan(plan: $plan, tags: $tags) { requestId tags } }";
const LIST = "query ($tag: String!) { requests(filter: { tag: $tag }) { nodes { requestId tags } } }";

test("requests are found by each of their tags, and duplicate tags are stored once", async () => {
  const created = await running.graphql(CREATE, { tags: ["team:a", "nightly", "team:a"] });
  const submitted = await running.graphql(SUBMIT, { plan: BLOG_PLAN, tags: ["nightly"] });
  await running.graphql(CREATE, {});
  const first = { requestId: created.body.data.createPlan.requestId, tags: ["team:a", "nightly"] };
  const second = { requestId: submitted.body.data.submitPlan.requestId, tags: ["nightly"] };
  const found = async (tag: string) => (await running.graphql(LIST, { tag })).body.data.requests.nodes;
  expect(await found("team:a")).toEqual([first]);
  expect(new Set(await found("nightly"))).toEqual(new Set([first, second]));
  expect(await found("other")).toEqual([]);
});

test.each([
  ["an empty tag", [""]],
  ["a tag of 65 characters", ["x".repeat(65)]],
  ["a tag with a blank", ["a b"]],
  ["eleven tags", Array.from({ length: 11 }, (_, index) => `t${index}`)],
])("%s is refused before anything is stored", async (_, tags) => {
  const { body } = await running.graphql(CREATE, { tags });
  expect(body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "tags" });
});

test("a filter by an invalid tag is refused", async () => {
  const { body } = await running.graphql(LIST, { tag: "a b" });
  expect(body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "filter.tag" });
});

test("an idempotency key also compares the tags", async () => {
  const first = await running.graphql(CREATE, { key: "k1", tags: ["a"] });
  expect((await running.graphql(CREATE, { key: "k1", tags: ["a"] })).body.data).toEqual(first.body.data);
  const other = await running.graphql(CREATE, { key: "k1", tags: ["b"] });
  expect(other.body.errors[0].extensions.code).toBe("IDEMPOTENCY_KEY_REUSED");
});
