/** What operators see of a real process: `/metrics` after operations that went well, went wrong and were refused. */
import { once } from "node:events";
import { testServers } from "@planwright/testing";
import { expect, test } from "vitest";
import { addressOf, startApiProcess } from "./api-process.ts";
import { BLOG_PLAN } from "./running-api.ts";

test("/metrics counts operations by names of the schema, and refusals", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: redisPrefix,
    MAX_UNFINISHED_PLANS: "1",
  });
  const url = await addressOf(child);
  const send = async (query: string, variables: object = {}): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await (await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).text();
  };
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  await send('query myOwnName { mine: request(requestId: "req_1") { status } }');
  await send("{ tools { nodes { name } } getAvailableTools { name } }");
  await send("{ getAvailableTools { name } }");
  await send("query Evil_1 { noSuchField }");
  await send('mutation { createPlan(query: "x") { requestId } }');
  await send(submit, { plan: BLOG_PLAN });

  const text = await (await fetch(new URL("/metrics", url))).text();
  const counts = new Map(
    text.split("\n").flatMap((line): [string, number][] => {
      const found = /^planwright_api_(?<name>\w+_total)\{(?<labels>.*)\} (?<value>\S+)$/.exec(line)?.groups;
      const labels = found?.["labels"]?.replace(/,?service="api"/, "");
      return found ? [[`${found["name"]} ${labels}`, Number(found["value"])]] : [];
    }),
  );
  expect(Object.fromEntries(counts)).toMatchObject({
    'requests_total operation="getAvailableTools",code="OK"': 1,
    'requests_total operation="createPlan",code="OK"': 1,
    'requests_total operation="submitPlan",code="OVERLOADED"': 1,
    'requests_total operation="invalid",code="GRAPHQL_VALIDATION_FAILED"': expect.any(Number),
    'overloaded_total reason="plans"': 1,
  });
  expect(text).toMatch(/^planwright_api_requests_total\{operation="request",code="\w+",service="api"\} 1$/m);
  expect(text).toMatch(/^planwright_api_request_duration_seconds_count\{.*operation="createPlan".*\} 1$/m);
  expect(text).toMatch(/^planwright_api_subscriptions_open\{service="api"\} 0$/m);
  expect(text).not.toMatch(/myOwnName|mine|Evil_1|noSuchField/);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
