import { createStore, type Store } from "@planwright/store";
import { eventually, startServerProxy, testServers } from "@planwright/testing";
import { expect, test } from "vitest";
import { serveApi } from "../src/index.ts";
import { BLOG_PLAN, NO_OFFERS, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";

const LIST = JSON.stringify({ query: "{ requests { nodes { id } } }" });
const CREATE = JSON.stringify({ query: 'mutation { createPlan(query: "x") { id } }' });

async function startOver(store: Store) {
  const logged: { facts: object; message: string }[] = [];
  const log = (facts: object, message: string) => void logged.push({ facts, message });
  const api = await serveApi({
    store,
    offers: NO_OFFERS,
    logger: { info: log, warn: log, error: log },
    host: "127.0.0.1",
    ports: [0],
    tenant: "default",
    introspection: true,
  });
  const post = async (body: string) => {
    const response = await fetch(api.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  };
  return { api, post, logged };
}

test("without MongoDB operations answer UNAVAILABLE and readiness is 503, and both recover with it", async () => {
  const proxy = await startServerProxy(testServers().mongodbUrl);
  const store = await createStore({ url: proxy.url, timeoutMs: 1_000 });
  const { api, post } = await startOver(store);
  const readyStatus = async () => (await fetch(new URL("/readyz", api.url))).status;
  expect(await readyStatus()).toBe(200);
  proxy.cut();
  for (const body of [LIST, CREATE]) {
    const answer = await post(body);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: "UNAVAILABLE", retryable: true });
    expect(answer.text).not.toMatch(/Mongo|ECONN|127\.0\.0\.1|topology|pool/i);
  }
  expect(await readyStatus()).toBe(503);
  expect((await fetch(new URL("/healthz", api.url))).status).toBe(200);
  proxy.mend();
  await eventually(async () => (await readyStatus()) === 200);
  expect((await post(LIST)).body.data.requests.nodes).toEqual([]);
  await api.close();
  await store.close();
  await proxy.close();
});

test("an unexpected error is masked, and logged with the correlation id that the client gets", async () => {
  const store = await createStore({ url: testServers().mongodbUrl });
  const broken: Store = {
    ...store,
    createRequest: () => Promise.reject(new TypeError("secret of the driver at /srv/api/x.ts")),
  };
  const { api, post, logged } = await startOver(broken);
  const { text, body } = await post(CREATE);
  expect(text).not.toMatch(/secret|driver|TypeError|\.ts/);
  const { code, correlationId, retryable } = body.errors[0].extensions;
  expect({ code, retryable }).toEqual({ code: "INTERNAL", retryable: false });
  expect(body.errors[0].path).toEqual(["createPlan"]);
  expect(logged.map(({ facts }) => facts)).toContainEqual(
    expect.objectContaining({
      correlationId,
      err: expect.objectContaining({ message: expect.stringContaining("secret") }),
    }),
  );
  await api.close();
  await store.close();
});

test("a service that stops answers waiting clients with the current state, and refuses new ones", async () => {
  const running = await startTestApi();
  const submitted = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }",
    {
      plan: BLOG_PLAN,
    },
  );
  const { requestId } = submitted.body.data.submitPlan;
  let reads = 0;
  const getRequest = running.store.getRequest.bind(running.store);
  running.store.getRequest = (...parameters) => {
    reads += 1;
    return getRequest(...parameters);
  };
  const waiting = running.graphql(
    "mutation ($id: ID!) { executeByRequestId(requestId: $id) { executionState } }",
    {
      id: requestId,
    },
  );
  await eventually(async () => reads > 1);
  await running.close();
  expect((await waiting).body.data.executeByRequestId).toEqual({ executionState: "in-progress" });
  await expect(running.graphql("{ __typename }")).rejects.toThrow();
});

test("introspection can be switched off, and then no message names parts of the schema", async () => {
  const running = await startTestApi({ introspection: false });
  const { status, body } = await running.graphql("{ __schema { types { name } } }");
  expect(status).toBe(400);
  expect(body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
  const wrongField = "subscription { requestUpdate { status } }";
  const wrongVariable = "query($filter: RequestFilter) { requests(filter: $filter) { nodes { id } } }";
  const overSocket = async (query: string): Promise<unknown> => {
    const client = webSocketClient(running.api.url);
    return client
      .iterate({ query })
      .next()
      .catch((errors: unknown) => errors);
  };
  const overEvents = async (query: string): Promise<string> => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const init = { method: "POST", headers, body: JSON.stringify({ query }) };
    return (await running.send("/graphql/stream", init)).text;
  };
  const answers = [
    (await running.graphql('{ request(requestId: "x") { planIdd } }')).text,
    (await running.graphql(wrongVariable, { filter: { statu: ["FAILED"] } })).text,
    (await running.graphql(wrongVariable, { filter: { status: ["FAILE"] } })).text,
    JSON.stringify(await overSocket(wrongField)),
    await overEvents(wrongField),
  ];
  for (const answer of answers) {
    expect(answer).toMatch(/GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT/);
    expect(answer).not.toMatch(/Did you mean|requestUpdated|planId\b|"status/);
  }
  await running.close();
});

test("the standard introspection query is answered at any depth", async () => {
  const running = await startTestApi();
  const { getIntrospectionQuery } = await import("graphql");
  const { body } = await running.graphql(getIntrospectionQuery());
  expect(body.errors).toBeUndefined();
  expect(body.data.__schema.types.length).toBeGreaterThan(20);
  await running.close();
});

test("GET answers a query with the header that browsers do not send on their own", async () => {
  const running = await startTestApi();
  const { status, body, headers } = await running.send(
    `/graphql?query=${encodeURIComponent("{ __typename }")}`,
    {
      headers: { "apollo-require-preflight": "1" },
    },
  );
  expect({ status, body }).toEqual({ status: 200, body: { data: { __typename: "Query" } } });
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("x-powered-by")).toBeNull();
  await running.close();
});

test("the root page lists the endpoints", async () => {
  const running = await startTestApi();
  const root = await running.send("/");
  expect(root.status).toBe(200);
  expect(root.text).toContain("/graphql");
  expect((await running.send("/metrics")).text).toContain("process_cpu");
  await running.close();
});
