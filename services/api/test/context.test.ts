import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { acceptedRequest, planAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const CREATE = `mutation ($context: ContextInput) {
  createPlan(query: "Remind me tomorrow", context: $context) { requestId createdAt context { now timezone locale facts } }
}`;
async function created(context?: object) {
  const { body } = await running.graphql(CREATE, { context });
  return body.data.createPlan;
}

test("the context that a caller gives is stored with the request and returned normalized", async () => {
  const facts = { userId: "u_17", password: "hunter2 and more", $where: { "a.b": [1, null] } };
  const given = { now: "2026-11-25T09:00:00+01:00", timezone: "Europe/Berlin", locale: "de-de", facts };
  const { requestId, context } = await created(given);
  const kept = { now: "2026-11-25T08:00:00.000Z", timezone: "Europe/Berlin", locale: "de-DE", facts };
  expect(context).toEqual(kept);
  const read = "query ($id: ID!) { request(requestId: $id) { context { now timezone locale facts } } }";
  const { body } = await running.graphql(read, { id: requestId });
  expect(body.data.request.context).toEqual(kept);
});

test("the default context is the time of acceptance, in UTC", async () => {
  const { context, createdAt } = await created();
  expect(context).toEqual({ now: createdAt, timezone: "UTC", locale: null, facts: {} });
});

test("the debug bundle contains the context without secrets", async () => {
  const { requestId } = await created({ facts: { userId: "u_17", password: "hunter2" } });
  const { body } = await running.graphql("query ($id: ID!) { debugBundle(requestId: $id) }", {
    id: requestId,
  });
  expect(body.data.debugBundle.request.context).toMatchObject({
    facts: { userId: "u_17", password: "[redacted]" },
  });
});

test("older clients may also give a context and a policy", async () => {
  const query = "an older client that knows what day it is";
  const answer = running.graphql(
    `mutation ($query: String!, $context: ContextInput) {
      createPlanWithRequestId(query: $query, context: $context, profile: "orchestrator", policy: { maxParallel: 2 }) {
        request { context { timezone facts } policy } } }`,
    { query, context: { timezone: "Asia/Tokyo", facts: { userId: "u_17" } } },
  );
  await planAs(running.store, await acceptedRequest(running.store, query));
  expect((await answer).body.data.createPlanWithRequestId.request).toEqual({
    context: { timezone: "Asia/Tokyo", facts: { userId: "u_17" } },
    policy: { profile: "orchestrator", maxParallel: 2 },
  });
});

test("no facts appear in the log", async () => {
  await created({ facts: { userId: "u_never_logged" } });
  await running.graphql(CREATE, { context: { facts: ["u_never_logged"] } });
  expect(JSON.stringify(running.logged)).not.toContain("u_never_logged");
});
