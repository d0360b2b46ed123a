/** Outputs that are too large for an answer, and how they are read: by field, by page, and as a stream. */
import { createHash } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonValue } from "@planwright/plan";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { playStep } from "./workers.ts";

const KIB = 1_024;
let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ mcp: { hosts: [] } });
});
afterAll(() => running.close());

const author = { _id: "a1", biography: "é".repeat(150 * KIB) };
const blog = { _id: "b1", $ref: "blogs", $id: "b1", "a\0b": 1, text: "x".repeat(40 * KIB) };
const OUTPUTS: { [stepId: string]: JsonValue } = { createAuthor: author, createBlog: blog };
const AUTHOR_TEXT = JSON.stringify(author);

interface Executed {
  requestId: string;
  planId: string;
}

async function executed(
  { outputs = OUTPUTS, plan = BLOG_PLAN }: { outputs?: typeof OUTPUTS; plan?: object } = {},
  { api = running, headers = {} }: { api?: RunningApi; headers?: Record<string, string> } = {},
): Promise<Executed> {
  const { body } = await api.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan },
    headers,
  );
  const { requestId, planId } = body.data.submitPlan;
  const claim = (await api.store.claimPlan(planId, "test executor"))!;
  const args = { createAuthor: { name: "Alice" }, createBlog: { content: "y".repeat(40 * KIB) } };
  for (const stepId of ["createAuthor", "createBlog"] as const) {
    await playStep(api.store, claim, stepId, { arguments: args[stepId], output: outputs[stepId]! });
  }
  await api.store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
  return { requestId, planId };
}

const referenceTo = ({ planId }: Executed) => ({
  ref: `${planId}/steps/createAuthor`,
  sizeBytes: Buffer.byteLength(AUTHOR_TEXT),
  preview: expect.stringMatching(/^\{"_id":"a1","biography":"é+$/),
});

test("a large output is a reference in every field, and a small one is inline", async () => {
  const request = await executed();
  const { body } = await running.graphql(
    `query ($id: ID!) { plan(id: $id) {
      outputs outputReferences { name ref sizeBytes preview } executionResults
      steps { id output outputReference { ref sizeBytes preview } } } }`,
    { id: request.planId },
  );
  const { plan } = body.data;
  const reference = referenceTo(request);
  expect(plan.outputs).toEqual({ createAuthor: reference, createBlog: blog });
  expect(plan.outputReferences).toEqual([{ name: "createAuthor", ...reference }]);
  expect(plan.steps).toEqual([
    { id: "createAuthor", output: reference, outputReference: reference },
    { id: "createBlog", output: blog, outputReference: null },
  ]);
  expect(JSON.parse(plan.executionResults)).toMatchObject({
    results: [{ output: reference }, { output: blog }],
    errors: [],
  });
});

test("older clients and agents get the same reference instead of the output", async () => {
  const request = await executed();
  const { body } = await running.graphql(
    "mutation ($id: ID!) { executeByRequestId(requestId: $id) { results outputs } }",
    { id: request.requestId },
  );
  const { results, outputs } = body.data.executeByRequestId;
  expect(JSON.parse(results)).toMatchObject([{ output: referenceTo(request) }, { output: blog }]);
  expect(JSON.parse(outputs)).toEqual({ createAuthor: referenceTo(request), createBlog: blog });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", running.api.url)));
  onTestFinished(() => client.close());
  const { structuredContent } = await client.callTool({
    name: "get_request",
    arguments: { requestId: request.requestId },
  });
  expect(structuredContent).toMatchObject({
    outputs: { createAuthor: referenceTo(request), createBlog: blog },
  });
});

test("a subscription sends a large output as a reference", async () => {
  const request = await executed();
  const states = webSocketClient(running.api.url).iterate({
    query: "subscription ($id: ID!) { requestUpdated(requestId: $id) { plan { steps { output } } } }",
    variables: { id: request.requestId },
  });
  const { value } = await states.next();
  expect(value).toEqual({
    data: { requestUpdated: { plan: { steps: [{ output: referenceTo(request) }, { output: blog }] } } },
  });
});

test("a plan output made of several step outputs has a separate reference, by which it is read", async () => {
  const plan = { ...BLOG_PLAN, outputs: { "the author": "<<createAuthor>>", title: "<<createBlog._id>>" } };
  const parts = { "the author": author, title: "b1" };
  const request = await executed({ plan });
  const read = await running.graphql("query ($id: ID!) { plan(id: $id) { outputs } }", {
    id: request.planId,
  });
  const { outputs } = read.body.data.plan;
  expect(outputs).toEqual({
    "the author": { ...referenceTo(request), ref: `${request.planId}/outputs/the author` },
    title: "b1",
  });
  const { body } = await running.send(`/outputs/${encodeURIComponent(outputs["the author"].ref)}`);
  expect(body).toEqual(parts["the author"]);
});

test.each([
  {
    what: "only the output of one step has the size and preview of that output, and its text as it is stored",
    part: "<<createAuthor>>",
    sizeBytes: Buffer.byteLength(AUTHOR_TEXT),
    preview: expect.stringMatching(/^\{"_id":"a1"/),
    value: author,
  },
  {
    what: "made of a large output is not made for the list of outputs",
    part: { by: "<<createAuthor.biography>>" },
    sizeBytes: null,
    preview: null,
    value: { by: author.biography },
  },
])("a named output that is $what", async ({ part, sizeBytes, preview, value }) => {
  const { planId } = await executed({
    plan: { ...BLOG_PLAN, outputs: { named: part, title: "<<createBlog._id>>" } },
  });
  const ref = `${planId}/outputs/named`;
  const read = await running.graphql("query ($id: ID!) { plan(id: $id) { outputs } }", { id: planId });
  expect(read.body.data.plan.outputs).toEqual({ named: { ref, sizeBytes, preview }, title: "b1" });
  const streamed = await fetch(new URL(`/outputs/${ref}`, running.api.url));
  const text = await streamed.text();
  expect(JSON.parse(text)).toEqual(value);
  expect(streamed.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
});

test("a named output made of whole outputs is read as these are stored, document after document, and none is parsed", async () => {
  const text = `{"biography" : "${"é".repeat(150 * KIB)}"}`;
  const list = ["x".repeat(300 * KIB)];
  const part = {
    by: "<<createAuthor>>",
    all: [{ "<<a>>": "<<createBlog>>" }, "<<createBlog>>"],
    n: 1,
    t: "\\<<b>>",
  };
  const { planId } = await executed({
    outputs: { createAuthor: JSON.parse(text), createBlog: list },
    plan: { ...BLOG_PLAN, outputs: { named: part } },
  });
  const ref = `${planId}/outputs/named`;
  const parsed: number[] = [];
  const { readOutputs } = running.store;
  running.store.readOutputs = (tenant, refs) => {
    parsed.push(refs.length);
    return readOutputs(tenant, refs);
  };
  onTestFinished(() => void (running.store.readOutputs = readOutputs));
  const streamed = await fetch(new URL(`/outputs/${encodeURIComponent(ref)}`, running.api.url));
  const whole = Buffer.from(await streamed.arrayBuffer());
  const value = { by: JSON.parse(text), all: [{ "<<a>>": list }, list], n: 1, t: "<<b>>" };
  expect(JSON.parse(whole.toString())).toEqual(value);
  expect(streamed.headers.get("content-length")).toBe(String(whole.length));
  const range = { range: `bytes=${200 * KIB}-${700 * KIB}` };
  const cut = await fetch(new URL(`/outputs/${ref}`, running.api.url), { headers: range });
  expect(Buffer.from(await cut.arrayBuffer()).equals(whole.subarray(200 * KIB, 700 * KIB + 1))).toBe(true);
  expect(parsed).toEqual([]);
});

test("the pages of an output together are its JSON text, and cut no character", async () => {
  const request = await executed();
  const { ref } = referenceTo(request);
  let text = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await running.graphql(
      "query ($ref: ID!, $offset: Int!) { output(ref: $ref, offset: $offset, maxBytes: 100000) { ref sizeBytes text nextOffset } }",
      { ref, offset },
    );
    const page: { text: string; nextOffset: number | null; sizeBytes: number } = body.data.output;
    expect(page.sizeBytes).toBe(Buffer.byteLength(AUTHOR_TEXT));
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(100_000);
    text += page.text;
    offset = page.nextOffset;
  }
  expect(text === AUTHOR_TEXT).toBe(true);
});

test("an output is streamed completely or by range, and not again to a client that has it", async () => {
  const { planId } = await executed();
  const path = `/outputs/${planId}/steps/createAuthor`;
  const bytes = Buffer.from(AUTHOR_TEXT);
  const get = async (headers: Record<string, string> = {}, method = "GET") => {
    const response = await fetch(new URL(path, running.api.url), { headers, method });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    };
  };
  const whole = await get();
  expect(whole.body.equals(bytes)).toBe(true);
  expect(whole.status).toBe(200);
  expect(whole.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(bytes.length),
    "accept-ranges": "bytes",
    etag: expect.stringMatching(/^"[\w-]{27}"$/),
  });
  const head = await get({}, "HEAD");
  expect({ status: head.status, length: head.body.length }).toEqual({ status: 200, length: 0 });
  expect(head.headers).toMatchObject({ "content-length": String(bytes.length), etag: whole.headers["etag"] });
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=100-199", 100, 200],
    [`bytes=${bytes.length - 5}-`, bytes.length - 5, bytes.length],
    ["bytes=-7", bytes.length - 7, bytes.length],
    ["bytes=10-999999999", 10, bytes.length],
  ] as const) {
    const part = await get({ range });
    expect(part.status).toBe(206);
    expect(part.headers["content-range"]).toBe(`bytes ${start}-${end - 1}/${bytes.length}`);
    expect(part.body.equals(bytes.subarray(start, end))).toBe(true);
  }
  for (const range of [`bytes=${bytes.length}-`, "bytes=-0"]) {
    const refused = await get({ range });
    expect(refused.status).toBe(416);
    expect(refused.headers["content-range"]).toBe(`bytes */${bytes.length}`);
  }
  // A header that is not a single range of bytes is ignored, as in RFC 9110.
  for (const range of ["bytes=5-1", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b"]) {
    expect((await get({ range })).status).toBe(200);
  }
  expect((await get({ "if-none-match": `W/${whole.headers["etag"]}` })).status).toBe(304);
  expect((await get({ range: "bytes=0-0", "if-range": '"another"' })).status).toBe(200);
  expect((await get({ range: "bytes=0-0", "if-range": whole.headers["etag"]! })).status).toBe(206);
  expect((await get({}, "POST")).status).toBe(405);
});

test("an output stored in several documents is streamed completely and by a range over two of them", async () => {
  const large = `${"a€".repeat(2_300_000)}`;
  const { planId } = await executed({ outputs: { ...OUTPUTS, createAuthor: large } });
  const bytes = Buffer.from(JSON.stringify(large));
  expect(bytes.length).toBeGreaterThan(8_388_608);
  const url = new URL(`/outputs/${planId}/steps/createAuthor`, running.api.url);
  const hash = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
  const whole = await (await fetch(url)).arrayBuffer();
  expect(hash(new Uint8Array(whole))).toBe(hash(bytes));
  const part = await fetch(url, { headers: { range: "bytes=8388000-8389999" } });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(8_388_000, 8_390_000))).toBe(true);
});

test("large arguments have a preview", async () => {
  const { planId } = await executed();
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

test.each([
  ["a word", "nope"],
  ["an invalid plan id", "plan_1/steps/a"],
  ["a path", "../healthz"],
  ["an escape", "%00"],
  ["5,000 characters", "a".repeat(5_000)],
  ["a prototype", "__proto__/steps/a"],
])("an invalid reference is an unknown output: %s", async (_, ref) => {
  const { body } = await running.graphql("query ($ref: ID!) { output(ref: $ref) { text } }", { ref });
  expect(body.errors[0].extensions).toMatchObject({ code: "NOT_FOUND", retryable: false });
  const { status } = await running.send(`/outputs/${encodeURIComponent(ref)}`);
  expect(status).toBe(404);
});

test("an output is readable only by its tenant, with the scope read", async () => {
  const api = await startTestApi({ anonymous: "refuse" });
  onTestFinished(() => api.close());
  const owner = await bearer(api.store, ["execute"]);
  const { ref } = referenceTo(await executed({}, { api, headers: owner }));
  const unknown = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa/steps/createAuthor";
  const get = (path: string, headers: Record<string, string> = {}) =>
    api.send(`/outputs/${path}`, { headers });
  expect((await get(ref, await bearer(api.store, ["read"]))).status).toBe(200);
  const anonymous = await get(ref);
  expect(anonymous).toMatchObject({
    status: 401,
    body: { errors: [{ extensions: { code: "UNAUTHENTICATED" } }] },
  });
  const writer = await get(ref, await bearer(api.store, ["execute", "operate"]));
  expect(writer.status).toBe(403);
  expect(writer.body.errors).toMatchObject([{ extensions: { code: "FORBIDDEN", scope: "read" } }]);
  const intruder = await bearer(api.store, ["admin"], { tenant: "intruder" });
  const [ofOtherTenant, none] = [await get(ref, intruder), await get(unknown, intruder)];
  expect(ofOtherTenant.status).toBe(404);
  expect(ofOtherTenant.text.replaceAll(ref, "REF")).toBe(none.text.replaceAll(unknown, "REF"));
  const field = await api.graphql("query ($ref: ID!) { output(ref: $ref) { text } }", { ref }, intruder);
  expect(field.body.errors[0].extensions.code).toBe("NOT_FOUND");
});
