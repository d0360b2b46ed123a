/**
 * The memory limits of one answer, and of many large answers together: over HTTP, with clients that do not
 * read.
 */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { createClient as createEventClient } from "graphql-sse";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { writeCalled } from "./workers.ts";

const MIB = 1_048_576;
const STEPS = 120;
const OUTPUT = "x".repeat(60_000);
/** Memory for two answers that are being made, one for each tenant. */
const BUDGET = 48 * MIB;
const PLAN = {
  steps: Array.from({ length: STEPS }, (_, index) => ({
    id: `s${index}`,
    tool: "createAuthor",
    arguments: { name: `n${index} ${"y".repeat(3_000)}`, email: "alice@test.com" },
  })),
};

type Headers = { authorization: string };
interface Tenant {
  headers: Headers;
  requestId: string;
  planId: string;
}

let running: RunningApi;
let attacker: Tenant;
let victim: Tenant;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse", largeAnswersBytes: BUDGET, sendTimeoutMs: 60_000 });
  attacker = await tenantOf(running, "attacker");
  victim = await tenantOf(running, "victim");
});
afterAll(() => running.close());

/** A tenant with a request whose outputs are larger than an answer may be. */
async function tenantOf({ store, graphql }: RunningApi, tenant: string): Promise<Tenant> {
  const headers = await bearer(store, ["admin"], { tenant });
  const { body } = await graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan: PLAN },
    headers,
  );
  const { requestId, planId } = body.data.submitPlan;
  const claim = (await store.claimPlan(planId, "test executor"))!;
  const records = PLAN.steps.map(({ id }) => ({
    key: id,
    stepId: id,
    status: "COMPLETED" as const,
    attempts: 1,
    output: OUTPUT,
  }));
  await writeCalled(store, claim, records);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  return { headers, requestId, planId };
}

const OUTPUTS = "query ($id: ID!) { plan(id: $id) { steps { output } } }";
const heavy = ({ headers, planId }: Tenant, api = running) => api.graphql(OUTPUTS, { id: planId }, headers);
const status = ({ headers, requestId }: Tenant) =>
  running.graphql("query ($id: ID!) { request(requestId: $id) { status } }", { id: requestId }, headers);

/** Memory that large answers hold, in bytes. */
async function heldBytes({ headers }: Tenant, { send } = running): Promise<number> {
  const { text } = await send("/metrics", { headers });
  return Number(/^planwright_api_large_answers_bytes\{.*\} (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** A client that requests a large answer, and does not read it. @returns a function that disconnects it */
async function stuckReader({ headers, planId }: Tenant, api = running, query = OUTPUTS): Promise<() => void> {
  const sent = httpRequest(api.api.url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
  });
  sent.on("error", () => undefined);
  onTestFinished(() => void sent.destroy());
  sent.end(JSON.stringify({ query, variables: { id: planId } }));
  await once(sent, "response");
  return () => void sent.destroy();
}

test("outputs that do not fit into an answer are sent as references, and the answer stays within its limit", async () => {
  const { status: code, body, text } = await heavy(attacker);
  expect(code).toBe(200);
  expect(body.errors).toBeUndefined();
  expect(Buffer.byteLength(text)).toBeLessThan(8 * MIB);
  const outputs: unknown[] = body.data.plan.steps.map(({ output }: { output: unknown }) => output);
  const whole = outputs.filter((output) => output === OUTPUT);
  expect(whole.length).toBe(Math.floor((6 * MIB) / 60_020));
  expect(outputs.at(-1)).toEqual({
    ref: `${attacker.planId}/steps/s${STEPS - 1}`,
    sizeBytes: 60_002,
    preview: expect.stringMatching(/^"x+$/),
  });
});

test.each(["query", "WebSocket", "server-sent events"])(
  "outputs that are selected with their steps and with their plan are references where there is no room left, over %s",
  async (way) => {
    const selection = "{ plan { steps { output } outputs } }";
    const variables = { id: victim.requestId };
    const subscription = `subscription ($id: ID!) { followed: requestUpdated(requestId: $id) ${selection} }`;
    const { headers } = victim;
    async function read() {
      if (way === "query") {
        const query = `query ($id: ID!) { followed: request(requestId: $id) ${selection} }`;
        return (await running.graphql(query, variables, headers)).body;
      }
      const events = createEventClient({ url: `${running.api.url}/stream`, retryAttempts: 0, headers });
      onTestFinished(() => events.dispose());
      const client = way === "WebSocket" ? webSocketClient(running.api.url, { headers }) : events;
      const states = client.iterate({ query: subscription, variables });
      const { value } = await states.next();
      expect((await states.next()).done).toBe(true);
      return value;
    }
    const { data, errors } = (await read()) as {
      data: { followed: { plan: { steps: { output: unknown }[]; outputs: object } } };
      errors?: unknown;
    };
    expect(errors).toBeUndefined();
    const { steps, outputs } = data.followed.plan;
    const inSteps = steps.map(({ output }) => output);
    const inPlan: unknown[] = Object.values(outputs);
    expect(inSteps).toHaveLength(STEPS);
    expect(inPlan).toHaveLength(STEPS);
    const whole = [...inSteps, ...inPlan].filter((output) => output === OUTPUT);
    expect(whole.length).toBe(Math.floor((6 * MIB) / 60_020));
  },
);

test("an answer that would be too large is refused completely, with a remedy", async () => {
  const api = await startTestApi({ maxAnswerBytes: MIB });
  onTestFinished(() => api.close());
  const { body } = await api.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }",
    { plan: PLAN },
  );
  const { requestId } = body.data.submitPlan;
  const document = (what: string) => `${what} { plan { a: document b: document c: document } }`;
  const query = await api.graphql(`query ($id: ID!) { ${document("request(requestId: $id)")} }`, {
    id: requestId,
  });
  const tooLarge = [
    {
      message: `The answer would have more than ${MIB} bytes`,
      extensions: {
        code: "ANSWER_TOO_LARGE",
        retryable: false,
        maxBytes: MIB,
        remedy: expect.stringContaining("pages"),
      },
    },
  ];
  expect(query.body).toEqual({ data: null, errors: tooLarge });
  const states = webSocketClient(api.api.url).iterate({
    query: `subscription ($id: ID!) { ${document("requestUpdated(requestId: $id)")} }`,
    variables: { id: requestId },
  });
  const { value } = await states.next();
  await states.return?.();
  expect(value).toEqual({ data: null, errors: tooLarge });
});

test("while a client does not read, large answers of its tenant are refused, but not small ones and not those of other tenants", async () => {
  const leave = await stuckReader(attacker);
  // The answer is made by now, and the part that the sockets do not take is in memory.
  await expect.poll(() => heldBytes(attacker)).toBeLessThan(8 * MIB);
  expect(await heldBytes(attacker)).toBeGreaterThan(4 * MIB);
  const refused = await heavy(attacker);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.body).toEqual({
    errors: [
      {
        message: expect.any(String),
        extensions: {
          code: "OVERLOADED",
          retryable: true,
          remedy: expect.any(String),
          retryAfterMs: expect.any(Number),
        },
      },
    ],
  });
  const list = "{ requests(first: 100) { nodes { plan { steps { output } } } } }";
  const { store } = running;
  const { listRequests } = store;
  onTestFinished(() => void Object.assign(store, { listRequests }));
  let listsRead = 0;
  store.listRequests = (...page) => {
    listsRead += 1;
    return listRequests(...page);
  };
  expect((await running.graphql(list, {}, attacker.headers)).status).toBe(503);
  // Refused before anything was read, so it costs nothing.
  expect(listsRead).toBe(0);
  expect((await status(attacker)).body.data.request.status).toBe("COMPLETED");
  const light = "{ requests(first: 100) { nodes { status plan { status counts { total } } } } }";
  expect((await running.graphql(light, {}, attacker.headers)).status).toBe(200);
  expect(listsRead).toBe(1);
  expect((await heavy(victim)).status).toBe(200);
  leave();
  await expect.poll(() => heldBytes(attacker)).toBe(0);
  expect((await heavy(attacker)).status).toBe(200);
});

test("a large answer made from little data also holds a grant of the budget", async () => {
  const documents = Array.from({ length: 15 }, (_, index) => `d${index}: document`).join(" ");
  const leave = await stuckReader(attacker, running, `query ($id: ID!) { plan(id: $id) { ${documents} } }`);
  expect(await heldBytes(attacker)).toBeGreaterThan(4 * MIB);
  leave();
  await expect.poll(() => heldBytes(attacker)).toBe(0);
});

test("a mutation is never refused for its large answer: it waits for the budget", async () => {
  const leave = await stuckReader(attacker);
  await expect.poll(() => heldBytes(attacker)).toBeLessThan(8 * MIB);
  let isAnswered = false;
  const answer = running
    .graphql(
      "mutation ($id: ID!) { executeByRequestId(requestId: $id) { results } }",
      { id: attacker.requestId },
      attacker.headers,
    )
    .finally(() => {
      isAnswered = true;
    });
  // Longer than a query waits, no matter which of the two began to wait first.
  expect((await heavy(attacker)).status).toBe(503);
  expect((await heavy(attacker)).status).toBe(503);
  expect(isAnswered).toBe(false);
  leave();
  const { status: code, body } = await answer;
  expect({ code, errors: body.errors }).toEqual({ code: 200, errors: undefined });
  expect(JSON.parse(body.data.executeByRequestId.results)).toHaveLength(STEPS);
});

test("a client that reads nothing for too long is disconnected, and its grant is released", async () => {
  const api = await startTestApi({ anonymous: "refuse", largeAnswersBytes: BUDGET, sendTimeoutMs: 500 });
  onTestFinished(() => api.close());
  const tenant = await tenantOf(api, "attacker");
  await stuckReader(tenant, api);
  await expect.poll(() => heldBytes(tenant, api), { timeout: 10_000 }).toBe(0);
  expect((await heavy(tenant, api)).status).toBe(200);
});

/** A plan of the tenant with one output of 11 MiB. @returns the path that streams the output */
async function largeOutput({ headers }: Tenant, { api, store, graphql } = running): Promise<URL> {
  const { body } = await graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { planId } }",
    { plan: { steps: PLAN.steps.slice(0, 1) } },
    headers,
  );
  const { planId } = body.data.submitPlan;
  const claim = (await store.claimPlan(planId, "test executor"))!;
  await writeCalled(store, claim, [
    { key: "s0", stepId: "s0", status: "COMPLETED", attempts: 1, output: "z".repeat(11 * MIB) },
  ]);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  return new URL(`/outputs/${planId}/steps/s0`, api.url);
}

/** A client that requests a stream, and reads only its head. */
async function stuckStream(url: URL, { headers }: Tenant) {
  const sent = httpRequest(url, { headers });
  sent.on("error", () => undefined);
  onTestFinished(() => void sent.destroy());
  sent.end();
  const [response]: IncomingMessage[] = await once(sent, "response");
  return { response: response!, leave: () => void sent.destroy() };
}

test("streams that are not read hold their grants of the budget until their clients disconnect", async () => {
  const url = await largeOutput(attacker);
  // Each holds one of the documents of the output, 256 KiB, and the answer of the database that contained it.
  const stuck = await Promise.all(Array.from({ length: 48 }, () => stuckStream(url, attacker)));
  expect(await heldBytes(attacker)).toBeGreaterThan(20 * MIB);
  expect((await heavy(attacker)).status).toBe(503);
  expect((await heavy(victim)).status).toBe(200);
  // Another reader is refused with the reason, not cut off.
  const refused = await fetch(url, { headers: attacker.headers });
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("etag")).toBeNull();
  expect(await refused.json()).toMatchObject({
    errors: [{ message: expect.stringContaining("memory reserved"), extensions: { code: "OVERLOADED" } }],
  });
  for (const { leave } of stuck) leave();
  await expect.poll(() => heldBytes(attacker)).toBe(0);
  expect((await fetch(url, { method: "HEAD", headers: attacker.headers })).status).toBe(200);
});

test("a stream that is not read for too long is cut off, and its grant is released", async () => {
  const api = await startTestApi({ anonymous: "refuse", largeAnswersBytes: BUDGET, sendTimeoutMs: 500 });
  onTestFinished(() => api.close());
  const tenant = await tenantOf(api, "attacker");
  const url = await largeOutput(tenant, api);
  const { response } = await stuckStream(url, tenant);
  await expect.poll(() => heldBytes(tenant, api)).toBe(0);
  // The client gets only the data that was already in the sockets.
  await expect(buffer(response)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("a part that contains one small output many times also holds a grant of the budget", async () => {
  const { headers } = attacker;
  const { store } = running;
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { planId } }",
    {
      plan: {
        steps: PLAN.steps.slice(0, 1),
        outputs: { many: Array.from({ length: 190 }, () => "<<s0>>") },
      },
    },
    headers,
  );
  const { planId } = body.data.submitPlan;
  const claim = (await store.claimPlan(planId, "test executor"))!;
  await writeCalled(store, claim, [
    { key: "s0", stepId: "s0", status: "COMPLETED", attempts: 1, output: OUTPUT },
  ]);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: null });
  const url = new URL(`/outputs/${planId}/outputs/many`, running.api.url);
  const sent = httpRequest(url, { headers });
  sent.on("error", () => undefined).end();
  await once(sent, "response");
  expect(await heldBytes(attacker)).toBeGreaterThan(20 * MIB);
  sent.destroy();
  await expect.poll(() => heldBytes(attacker)).toBe(0);
});
