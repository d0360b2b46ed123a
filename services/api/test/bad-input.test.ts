import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const JSON_TYPE = { "content-type": "application/json" };
const post = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
): RequestInit => ({
  method: "POST",
  headers,
  body,
});
const document = (query: string, more: object = {}): RequestInit => post(JSON.stringify({ query, ...more }));
const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
const repeated = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");

/** What must hold for every refused request, whatever it was. */
function expectClean(answer: Answer): void {
  expect(answer.text.length).toBeLessThan(50_000);
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\.js:\d|at async|Mongo|BSON|ECONN|stacktrace/);
}

async function expectRefused(
  path: string,
  init: RequestInit,
  expected: { status: number; code: string; message?: RegExp | undefined },
): Promise<void> {
  const stored = await storedRequests();
  running.offered.length = 0;
  const answer = await running.send(path, init);
  expectClean(answer);
  const { status, text } = answer;
  const code = answer.body?.errors?.[0]?.extensions?.code;
  expect({ status, code, text }).toEqual({ status: expected.status, code: expected.code, text });
  if (expected.message) expect(answer.body.errors[0].message).toMatch(expected.message);
  expect(answer.body.errors[0].extensions.remedy).toEqual(expect.any(String));
  expect(running.offered).toEqual([]);
  expect(await storedRequests()).toBe(stored);
  expect((await running.graphql("{ __typename }")).body).toEqual({ data: { __typename: "Query" } });
}

async function storedRequests(): Promise<number> {
  return (await running.store.listRequests("default", { first: 100 })).items.length;
}

describe("transport", () => {
  const cases: [string, string, RequestInit, number, string][] = [
    ["an unknown path", "/nothing", {}, 404, "NOT_FOUND"],
    ["an encoded path outside", "/graphql/%2e%2e%2fetc", { method: "PUT" }, 405, "METHOD_NOT_ALLOWED"],
    ["PUT", "/graphql", { method: "PUT", headers: JSON_TYPE, body: "{}" }, 405, "METHOD_NOT_ALLOWED"],
    ["DELETE", "/graphql", { method: "DELETE" }, 405, "METHOD_NOT_ALLOWED"],
    ["PATCH", "/graphql", { method: "PATCH", headers: JSON_TYPE, body: "{}" }, 405, "METHOD_NOT_ALLOWED"],
    [
      "a body without a content type",
      "/graphql",
      post(new Uint8Array([123, 125]), {}),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "text/plain",
      "/graphql",
      post('{"query":"{__typename}"}', { "content-type": "text/plain" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a form",
      "/graphql",
      post("query={__typename}", { "content-type": "application/x-www-form-urlencoded" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "multipart",
      "/graphql",
      post("x", { "content-type": "multipart/form-data; boundary=x" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "application/graphql",
      "/graphql",
      post("{__typename}", { "content-type": "application/graphql" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "an unknown character set",
      "/graphql",
      post("{}", { "content-type": "application/json; charset=klingon" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "an unknown encoding",
      "/graphql",
      post("{}", { ...JSON_TYPE, "content-encoding": "zip" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a body that is not gzip",
      "/graphql",
      post("{}", { ...JSON_TYPE, "content-encoding": "gzip" }),
      400,
      "BAD_REQUEST",
    ],
    ["an empty body", "/graphql", post(""), 400, "BAD_REQUEST"],
    ["a cut body", "/graphql", post('{"query": "{ __type'), 400, "BAD_REQUEST"],
    ["not JSON", "/graphql", post("query"), 400, "BAD_REQUEST"],
    ["a JSON text", "/graphql", post('"{ __typename }"'), 400, "BAD_REQUEST"],
    ["a JSON number", "/graphql", post("7"), 400, "BAD_REQUEST"],
    ["JSON null", "/graphql", post("null"), 400, "BAD_REQUEST"],
    ["a list: batching is off", "/graphql", post('[{"query":"{__typename}"}]'), 400, "BAD_REQUEST"],
    ["an empty list", "/graphql", post("[]"), 400, "BAD_REQUEST"],
    ["an empty object", "/graphql", post("{}"), 400, "BAD_REQUEST"],
    ["a query that is a number", "/graphql", post('{"query":5}'), 400, "BAD_REQUEST"],
    ["a query that is null", "/graphql", post('{"query":null}'), 400, "BAD_REQUEST"],
    ["an empty query", "/graphql", post('{"query":""}'), 400, "BAD_REQUEST"],
    ["variables as text", "/graphql", document("{__typename}", { variables: "{}" }), 400, "BAD_REQUEST"],
    ["variables as a list", "/graphql", document("{__typename}", { variables: [1] }), 400, "BAD_REQUEST"],
    ["extensions as text", "/graphql", document("{__typename}", { extensions: "x" }), 400, "BAD_REQUEST"],
    [
      "an operation name that is a number",
      "/graphql",
      document("{__typename}", { operationName: 5 }),
      400,
      "BAD_REQUEST",
    ],
    [
      "a body over 1 MiB",
      "/graphql",
      document(`{ __typename # ${"x".repeat(1_100_000)}\n }`),
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    [
      "GET without a header that a browser cannot send by itself",
      "/graphql?query={__typename}",
      {},
      400,
      "BAD_REQUEST",
    ],
    ["GET without a query", "/graphql", { headers: JSON_TYPE }, 400, "BAD_REQUEST"],
    [
      "GET with a mutation",
      `/graphql?query=${encodeURIComponent('mutation{createPlan(query:"x"){id}}')}`,
      { headers: JSON_TYPE },
      405,
      "BAD_REQUEST",
    ],
    ["GET with the query twice", "/graphql?query={a}&query={b}", { headers: JSON_TYPE }, 400, "BAD_REQUEST"],
    [
      "GET with variables that are not JSON",
      "/graphql?query={__typename}&variables={",
      { headers: JSON_TYPE },
      400,
      "BAD_REQUEST",
    ],
    [
      "a persisted query",
      "/graphql",
      post('{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"abc"}}}'),
      200,
      "PERSISTED_QUERY_NOT_SUPPORTED",
    ],
    [
      "an accept header that is not JSON",
      "/graphql",
      post('{"query":"{__typename}"}', { ...JSON_TYPE, accept: "image/png" }),
      406,
      "BAD_REQUEST",
    ],
  ];
  test.each(cases)("%s is refused", async (_, path, init, status, code) => {
    await expectRefused(path, init, { status, code });
  });
});

describe("documents", () => {
  const selection = "edges{node{plan{request{plan{request{plan{request{plan{request{plan{id}}}}}}}}}}}";
  const cases: [string, RequestInit, string, RegExp][] = [
    ["not GraphQL", document("create author Alice"), "GRAPHQL_PARSE_FAILED", /Syntax Error/],
    ["an open brace", document("{ requests {"), "GRAPHQL_PARSE_FAILED", /Syntax Error/],
    ["a NUL character", document("{ __typename \0 }"), "GRAPHQL_PARSE_FAILED", /Syntax Error/],
    [
      "braces 3,000 deep",
      document(`${"{a".repeat(3_000)}${"}".repeat(3_000)}`),
      "QUERY_TOO_COMPLEX",
      /tokens/,
    ],
    ["an unknown field", document("{ nothing }"), "GRAPHQL_VALIDATION_FAILED", /nothing/],
    [
      "an unknown argument",
      document("{ requests(last: 5) { nodes { id } } }"),
      "GRAPHQL_VALIDATION_FAILED",
      /last/,
    ],
    ["a missing argument", document("{ plan { id } }"), "GRAPHQL_VALIDATION_FAILED", /id/],
    ["a missing selection", document("{ requests }"), "GRAPHQL_VALIDATION_FAILED", /selection/],
    [
      "a literal of the wrong type",
      document('{ requests(first: "x") { nodes { id } } }'),
      "GRAPHQL_VALIDATION_FAILED",
      /Int/,
    ],
    [
      "an unknown enum value",
      document("{ requests(status: [DONE]) { nodes { id } } }"),
      "GRAPHQL_VALIDATION_FAILED",
      /DONE/,
    ],
    [
      "a fragment that contains itself",
      document("{ ...a } fragment a on Query { ...a }"),
      "GRAPHQL_VALIDATION_FAILED",
      /a/,
    ],
    [
      "two fragments that contain each other",
      document("{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }"),
      "GRAPHQL_VALIDATION_FAILED",
      /a/,
    ],
    ["an unused variable", document("query ($x: Int) { __typename }"), "GRAPHQL_VALIDATION_FAILED", /x/],
    ["an unknown directive", document("{ __typename @stream }"), "GRAPHQL_VALIDATION_FAILED", /stream/],
    ["a type definition", document("type A { b: Int }"), "GRAPHQL_VALIDATION_FAILED", /executable/],
    [
      "a subscription",
      document(`subscription { requestUpdated(requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa") { id } }`),
      "GRAPHQL_VALIDATION_FAILED",
      /subscription/i,
    ],
    [
      "two operations and no name",
      document("query a { __typename } query b { __typename }"),
      "OPERATION_RESOLUTION_FAILURE",
      /operation/,
    ],
    [
      "the name of no operation",
      document("query a { __typename }", { operationName: "b" }),
      "OPERATION_RESOLUTION_FAILURE",
      /operation/,
    ],
    [
      "a selection 17 deep",
      document(`{ requests(first: 1) { ${selection} } }`),
      "QUERY_TOO_COMPLEX",
      /depth/,
    ],
    [
      "aliases of an expensive field",
      document(`{ ${repeated(16, (index) => `a${index}: getAvailableTools { name }`)} }`),
      "QUERY_TOO_COMPLEX",
      /aliases/,
    ],
    ["3,000 tokens", document(`{ ${"__typename ".repeat(3_000)} }`), "QUERY_TOO_COMPLEX", /tokens/],
    [
      "a page of pages",
      document(
        `{ requests(first: 100) { nodes { plan { steps { id key tool status arguments output attempts { attempt attemptId startedAt error { code message data } } } } plans { id steps { id output } } } } }`,
      ),
      "QUERY_TOO_COMPLEX",
      /cost/,
    ],
    [
      "a page of 2 billion",
      document("{ requests(first: 2000000000) { nodes { id } } }"),
      "QUERY_TOO_COMPLEX",
      /cost/,
    ],
    [
      "a depth hidden in fragments",
      document(
        `{ requests(first: 1) { nodes { ...a } } } fragment a on Request { plan { request { ...b } } } fragment b on Request { plan { request { ...c } } } fragment c on Request { plan { request { ...d } } } fragment d on Request { plan { request { plan { id } } } }`,
      ),
      "QUERY_TOO_COMPLEX",
      /depth/,
    ],
  ];
  test.each(cases)("%s is refused", async (_, init, code, message) => {
    await expectRefused("/graphql", init, { status: 400, code, message });
  });
});

describe("inputs", () => {
  const unknownRequest = `req_1700000000_${"a".repeat(20)}`;
  const unknownPlan = `plan_1700000000_${"a".repeat(20)}`;
  const ofRequest = (field: string, kind = "query", selected = "{ requestId }") =>
    `${kind} ($id: ID!) { ${field}(requestId: $id) ${selected} }`;
  const create = "mutation ($query: String!) { createPlan(query: $query) { id } }";
  const createOld = "mutation ($query: String!) { createPlanWithRequestId(query: $query) { id } }";
  const approve = `mutation ($id: ID!, $step: ID!, $hash: String!, $reason: String) {
    approve(requestId: $id, stepId: $step, approvalHash: $hash, reason: $reason) { id } }`;
  const resolve = `mutation ($id: ID!, $key: ID!, $resolution: InDoubtResolution!, $output: JSON, $reason: String, $attempt: Int) {
    resolveInDoubt(requestId: $id, stepKey: $key, resolution: $resolution, output: $output, reason: $reason, attempt: $attempt) { id } }`;
  const rerun = "mutation ($id: ID!, $from: ID) { rerun(requestId: $id, from: $from) { id } }";
  const doubt = { id: unknownRequest, key: "a", resolution: "retry" };
  const approval = { id: unknownRequest, step: "a", hash: "a".repeat(64) };
  const cases: [string, string, object, string, RegExp][] = [
    ["an empty query", create, { query: "" }, "BAD_USER_INPUT", /empty/],
    ["a query of blanks", create, { query: " \n\t " }, "BAD_USER_INPUT", /empty/],
    [
      "a query of 10,001 characters",
      create,
      { query: "x".repeat(10_001) },
      "BAD_USER_INPUT",
      /10001 characters/,
    ],
    ["a query of 100,000 characters", create, { query: "x".repeat(100_000) }, "BAD_USER_INPUT", /100000/],
    ["a query of half a character", create, { query: "a\ud800b" }, "BAD_USER_INPUT", /well-formed/],
    ["a query with a NUL character", create, { query: "a\0b" }, "BAD_USER_INPUT", /well-formed/],
    ["an empty query of an old client", createOld, { query: "" }, "BAD_USER_INPUT", /empty/],
    ["a long query of an old client", createOld, { query: "x".repeat(100_000) }, "BAD_USER_INPUT", /100000/],
    ["a query that is a number", create, { query: 5 }, "BAD_USER_INPUT", /query/],
    ["a query that is an object", create, { query: { $ne: null } }, "BAD_USER_INPUT", /query/],
    ["a query that is null", create, { query: null }, "BAD_USER_INPUT", /query/],
    ["no query", create, {}, "BAD_USER_INPUT", /query/],
    [
      "an unknown requestId",
      ofRequest("request"),
      { id: unknownRequest },
      "NOT_FOUND",
      new RegExp(`^Plan not found for requestId: ${unknownRequest}$`),
    ],
    [
      "an unknown requestId of an old client",
      ofRequest("executeByRequestId", "mutation"),
      { id: unknownRequest },
      "NOT_FOUND",
      new RegExp(`^Plan not found for requestId: ${unknownRequest}$`),
    ],
    [
      "an unknown requestId in plansByRequestId",
      ofRequest("plansByRequestId"),
      { id: unknownRequest },
      "NOT_FOUND",
      /^Plan not found for requestId/,
    ],
    [
      "an unknown requestId in cancel",
      ofRequest("cancel", "mutation"),
      { id: unknownRequest },
      "NOT_FOUND",
      /^Plan not found for requestId/,
    ],
    ...["pause", "resume"].flatMap((field): typeof cases => [
      [
        `an unknown requestId in ${field}`,
        ofRequest(field, "mutation"),
        { id: unknownRequest },
        "NOT_FOUND",
        /^Plan not found for requestId/,
      ],
      [
        `a malformed requestId in ${field}`,
        ofRequest(field, "mutation"),
        { id: "nope" },
        "BAD_USER_INPUT",
        /Not a request id/,
      ],
    ]),
    ["an unknown requestId in approve", approve, approval, "NOT_FOUND", /^Plan not found for requestId/],
    [
      "a malformed requestId in approve",
      approve,
      { ...approval, id: "nope" },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    ["an empty step id", approve, { ...approval, step: "" }, "BAD_USER_INPUT", /Not a step id/],
    ["a step id with a path", approve, { ...approval, step: "a/../b" }, "BAD_USER_INPUT", /Not a step id/],
    ["an approvalHash that is none", approve, { ...approval, hash: "yes" }, "BAD_USER_INPUT", /approvalHash/],
    [
      "an approvalHash that is an operator",
      approve,
      { ...approval, hash: { $ne: 1 } },
      "BAD_USER_INPUT",
      /hash/,
    ],
    [
      "a long reason",
      approve,
      { ...approval, reason: "x".repeat(1_001) },
      "BAD_USER_INPUT",
      /1001 characters/,
    ],
    [
      "a reason with a NUL character",
      approve,
      { ...approval, reason: "a\0b" },
      "BAD_USER_INPUT",
      /well-formed/,
    ],
    ["an unknown requestId in resolveInDoubt", resolve, doubt, "NOT_FOUND", /^Plan not found for requestId/],
    [
      "a malformed requestId in resolveInDoubt",
      resolve,
      { ...doubt, id: "" },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    ["a step key that is none", resolve, { ...doubt, key: "a[b]" }, "BAD_USER_INPUT", /Not the key/],
    ["a step key that goes on", resolve, { ...doubt, key: "a[1]b" }, "BAD_USER_INPUT", /Not the key/],
    ["a long step key", resolve, { ...doubt, key: "a".repeat(100_000) }, "BAD_USER_INPUT", /…/],
    ["an unknown resolution", resolve, { ...doubt, resolution: "maybe" }, "BAD_USER_INPUT", /maybe/],
    [
      "completed without an output",
      resolve,
      { ...doubt, resolution: "completed" },
      "BAD_USER_INPUT",
      /output/,
    ],
    ["failed without a reason", resolve, { ...doubt, resolution: "failed" }, "BAD_USER_INPUT", /reason/],
    ["retry with an output", resolve, { ...doubt, output: 1 }, "BAD_USER_INPUT", /no output/],
    [
      "an output 200 levels deep",
      resolve,
      { ...doubt, resolution: "completed", output: nested(200) },
      "BAD_USER_INPUT",
      /levels deep/,
    ],
    [
      "an output with NUL in a key",
      resolve,
      { ...doubt, resolution: "completed", output: { "a\0b": 1 } },
      "BAD_USER_INPUT",
      /NUL/,
    ],
    ["an attempt beyond 32 bits", resolve, { ...doubt, attempt: 1e12 }, "BAD_USER_INPUT", /32-bit/],
    [
      "an unknown requestId in rerun",
      rerun,
      { id: unknownRequest },
      "NOT_FOUND",
      /^Plan not found for requestId/,
    ],
    ["a malformed requestId in rerun", rerun, { id: "nope" }, "BAD_USER_INPUT", /Not a request id/],
    ["a rerun from no step", rerun, { id: unknownRequest, from: "" }, "BAD_USER_INPUT", /Not a step id/],
    ["a rerun from an item", rerun, { id: unknownRequest, from: "a[0]" }, "BAD_USER_INPUT", /Not a step id/],
    ["a rerun from a list", rerun, { id: unknownRequest, from: ["a"] }, "BAD_USER_INPUT", /ID/],
    [
      "an unknown requestId in executePlan",
      ofRequest("executePlan", "mutation"),
      { id: unknownRequest },
      "NOT_FOUND",
      /^Plan not found for requestId/,
    ],
    [
      "an unknown plan",
      "query ($id: ID!) { plan(id: $id) { id } }",
      { id: unknownPlan },
      "NOT_FOUND",
      /^Plan not found: plan_/,
    ],
    [
      "an unknown plan in executePlan",
      "mutation ($id: ID!) { executePlan(planId: $id) { id } }",
      { id: unknownPlan },
      "NOT_FOUND",
      /Plan not found/,
    ],
    [
      "a malformed requestId",
      ofRequest("request"),
      { id: "abc" },
      "BAD_USER_INPUT",
      /Not a request id: "abc"/,
    ],
    ["an empty requestId", ofRequest("request"), { id: "" }, "BAD_USER_INPUT", /Not a request id/],
    [
      "a planId where a requestId belongs",
      ofRequest("request"),
      { id: unknownPlan },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    [
      "a requestId of 100,000 characters",
      ofRequest("request"),
      { id: `req_${"1".repeat(100_000)}` },
      "BAD_USER_INPUT",
      /…/,
    ],
    ["a requestId that is an operator", ofRequest("request"), { id: { $gt: "" } }, "BAD_USER_INPUT", /ID/],
    [
      "a requestId with a path",
      ofRequest("request"),
      { id: "req_1700000000_../../etc/passwd" },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    [
      "a requestId with a line break",
      ofRequest("request"),
      { id: `${unknownRequest}\n` },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    ["a numeric plan id", "{ plan(id: 5) { id } }", {}, "BAD_USER_INPUT", /Not a plan id: "5"/],
    [
      "a malformed requestId in executeByRequestId",
      ofRequest("executeByRequestId", "mutation"),
      { id: "nope" },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    [
      "a malformed requestId in cancel",
      ofRequest("cancel", "mutation"),
      { id: "nope" },
      "BAD_USER_INPUT",
      /Not a request id/,
    ],
    ["executePlan without an id", "mutation { executePlan { id } }", {}, "BAD_USER_INPUT", /exactly one/],
    [
      "executePlan with both ids",
      `mutation { executePlan(planId: "${unknownPlan}", requestId: "${unknownRequest}") { id } }`,
      {},
      "NOT_FOUND",
      /Plan not found/,
    ],
    ["a page of none", "{ requests(first: 0) { nodes { id } } }", {}, "BAD_USER_INPUT", /page of 0/],
    ["a page of -1", "{ requests(first: -1) { nodes { id } } }", {}, "BAD_USER_INPUT", /page of -1/],
    ["a page of 101", "{ requests(first: 101) { nodes { id } } }", {}, "BAD_USER_INPUT", /page of 101/],
    [
      "an empty text to look for",
      '{ requests(filter: { text: "  " }) { nodes { id } } }',
      {},
      "BAD_USER_INPUT",
      /text of 2/,
    ],
    [
      "a status twice",
      "{ requests(status: [READY], filter: { status: [READY] }) { nodes { id } } }",
      {},
      "BAD_USER_INPUT",
      /given twice/,
    ],
    [
      "a tool that is none",
      '{ requests(filter: { tool: "a b" }) { nodes { id } } }',
      {},
      "BAD_USER_INPUT",
      /Not the name of a tool/,
    ],
    [
      "a code that is none",
      '{ requests(filter: { errorCode: "$gt" }) { nodes { id } } }',
      {},
      "BAD_USER_INPUT",
      /Not a code/,
    ],
    [
      "a time that ends before it begins",
      '{ requests(filter: { createdFrom: "2026-01-02T00:00:00Z", createdBefore: "2026-01-01T00:00:00Z" }) { nodes { id } } }',
      {},
      "BAD_USER_INPUT",
      /Nothing is created/,
    ],
    [
      "a text of 201 characters to look for",
      "query ($text: String) { requests(filter: { text: $text }) { nodes { id } } }",
      { text: "a".repeat(201) },
      "BAD_USER_INPUT",
      /text of 201/,
    ],
    [
      "a page of 2 billion by a variable",
      "query ($n: Int!) { requests(first: $n) { nodes { id } } }",
      { n: 2_000_000_000 },
      "BAD_USER_INPUT",
      /page of/,
    ],
    [
      "a page size beyond 32 bits",
      "query ($n: Int!) { requests(first: $n) { nodes { id } } }",
      { n: 1e12 },
      "BAD_USER_INPUT",
      /32-bit/,
    ],
    [
      "a page size of null",
      "query ($n: Int = 5) { requests(first: $n) { nodes { id } } }",
      { n: null },
      "BAD_USER_INPUT",
      /null/,
    ],
    [
      "a cursor that is not one",
      '{ requests(after: "xyz") { nodes { id } } }',
      {},
      "BAD_USER_INPUT",
      /cursor/,
    ],
    [
      "a cursor of other content",
      `{ requests(after: "${Buffer.from('[0,{"$gt":""}]').toString("base64url")}") { nodes { id } } }`,
      {},
      "BAD_USER_INPUT",
      /cursor/,
    ],
    [
      "a long cursor",
      `query ($after: String) { requests(after: $after) { nodes { id } } }`,
      { after: "A".repeat(10_000) },
      "BAD_USER_INPUT",
      /cursor/,
    ],
    [
      "an unknown status by a variable",
      "query ($s: [RequestStatus!]) { requests(status: $s) { nodes { id } } }",
      { s: ["DONE"] },
      "BAD_USER_INPUT",
      /DONE/,
    ],
    [
      "execute as text",
      'mutation ($e: Boolean!) { createPlan(query: "x", execute: $e) { id } }',
      { e: "yes" },
      "BAD_USER_INPUT",
      /Boolean/,
    ],
    [
      "execute as null",
      'mutation ($e: Boolean = true) { createPlan(query: "x", execute: $e) { id } }',
      { e: null },
      "BAD_USER_INPUT",
      /null/,
    ],
    [
      "an empty key",
      'mutation ($key: String) { createPlan(query: "x", idempotencyKey: $key) { id } }',
      { key: "" },
      "BAD_USER_INPUT",
      /idempotencyKey/,
    ],
    [
      "a key of 257 characters",
      'mutation ($key: String) { createPlan(query: "x", idempotencyKey: $key) { id } }',
      { key: "k".repeat(257) },
      "BAD_USER_INPUT",
      /257 characters/,
    ],
    [
      "a key of half a character",
      'mutation ($key: String) { createPlan(query: "x", idempotencyKey: $key) { id } }',
      { key: "a\ud800" },
      "BAD_USER_INPUT",
      /well-formed/,
    ],
    [
      "a key that is a number",
      'mutation ($key: String) { createPlan(query: "x", idempotencyKey: $key) { id } }',
      { key: 7 },
      "BAD_USER_INPUT",
      /key/,
    ],
    [
      "a plan with an empty key",
      'mutation ($p: JSON!) { submitPlan(plan: $p, idempotencyKey: "") { id } }',
      { p: BLOG_PLAN },
      "BAD_USER_INPUT",
      /idempotencyKey/,
    ],
    [
      "a plan that is missing",
      "mutation ($p: JSON!) { submitPlan(plan: $p) { id } }",
      {},
      "BAD_USER_INPUT",
      /plan|"\$p"/,
    ],
    [
      "a plan that is null",
      "mutation ($p: JSON!) { submitPlan(plan: $p) { id } }",
      { p: null },
      "BAD_USER_INPUT",
      /null/,
    ],
    [
      "a plan 200 levels deep",
      "mutation ($p: JSON!) { submitPlan(plan: $p) { id } }",
      { p: nested(200) },
      "BAD_USER_INPUT",
      /levels deep/,
    ],
    [
      "a plan 100,000 levels deep",
      "query ($p: JSON!) { validatePlan(plan: $p) { valid } }",
      { p: "deep" },
      "BAD_USER_INPUT",
      /levels deep/,
    ],
    [
      "a plan with NUL in a key",
      "mutation ($p: JSON!) { submitPlan(plan: $p) { id } }",
      { p: { "a\0b": 1 } },
      "BAD_USER_INPUT",
      /NUL/,
    ],
    [
      "a plan with an empty query",
      'mutation ($p: JSON!) { submitPlan(plan: $p, query: "") { id } }',
      { p: BLOG_PLAN },
      "BAD_USER_INPUT",
      /empty/,
    ],
    [
      "a plan with a long query",
      "mutation ($p: JSON!, $q: String) { submitPlan(plan: $p, query: $q) { id } }",
      { p: BLOG_PLAN, q: "x".repeat(10_001) },
      "BAD_USER_INPUT",
      /10001/,
    ],
  ];
  test.each(cases)("%s is refused", async (_, query, variables, code, message) => {
    const text = JSON.stringify({ query, variables });
    // JSON.stringify cannot write what JSON.parse can read.
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const answer = await running.send("/graphql", post(text.replace('"deep"', deep)));
    const status = answer.status === 400 ? 400 : 200; // Variables that cannot be read are found before execution.
    await expectRefused("/graphql", post(text.replace('"deep"', deep)), { status, code, message });
  });
});

describe("plans", () => {
  const step = { id: "a", tool: "createAuthor", arguments: { name: "A", email: "a@test.com" } };
  const blog = (id: string, authorId: string) => ({
    id,
    tool: "createBlog",
    arguments: { title: "t", content: "c", authorId },
  });
  const cases: [string, unknown, RegExp][] = [
    ["an empty object", {}, /./],
    ["an empty list", [], /./],
    ["a number", 7, /./],
    ["true", true, /./],
    ["prose", "create an author please", /./],
    ["cut JSON", '{"steps": [{"id": "a"', /./],
    ["no steps", { steps: [] }, /./],
    ["steps that are no list", { steps: "a" }, /./],
    ["a step that is null", { steps: [null] }, /./],
    ["a step without a tool", { steps: [{ id: "a", arguments: {} }] }, /./],
    ["an unknown tool", { steps: [{ ...step, tool: "createAuthr" }] }, /createAuthr.*createAuthor/],
    ["an unknown field", { steps: [{ ...step, run: "now" }] }, /run/],
    ["a duplicate id", { steps: [step, step] }, /a/],
    ["a bad id", { steps: [{ ...step, id: "1 a" }] }, /./],
    ["a cycle", { steps: [blog("a", "<<b._id>>"), blog("b", "<<a._id>>")] }, /wait for each other/],
    ["a step that refers to itself", { steps: [blog("a", "<<a._id>>")] }, /a/],
    ["a reference to no step", { steps: [blog("a", "<<nobody._id>>")] }, /nobody/],
    ["a dependency on no step", { steps: [{ ...step, dependsOn: ["nobody"] }] }, /nobody/],
    ["a missing argument", { steps: [{ ...step, arguments: { name: "A" } }] }, /email/],
    ["an argument of a wrong type", { steps: [{ ...step, arguments: { name: 5, email: "e" } }] }, /name/],
    [
      "an argument that no schema knows",
      { steps: [{ ...step, arguments: { ...step.arguments, age: 5 } }] },
      /age/,
    ],
    ["a placeholder", { steps: [blog("a", "<author_id>")] }, /author_id/],
    ["a forbidden reference", { steps: [step, blog("b", "<<a.__proto__>>")] }, /__proto__/],
    [
      "a plan tool inside a plan",
      { steps: [{ id: "a", tool: "execute_tool_plan", arguments: {} }] },
      /execute_tool_plan/,
    ],
    ["an unknown format version", { formatVersion: 9, steps: [step] }, /./],
    [
      "too many steps",
      { steps: Array.from({ length: 1_001 }, (_, index) => ({ ...step, id: `s${index}` })) },
      /./,
    ],
    ["a policy that does not exist", { steps: [step], policy: { onStepFailure: "panic" } }, /./],
    ["outputs of no step", { steps: [step], outputs: ["nobody"] }, /nobody/],
  ];
  test.each(cases)("%s is invalid: stored with its diagnostics, nothing queued", async (_, plan, message) => {
    running.offered.length = 0;
    const answer = await running.graphql("mutation ($plan: JSON!) { submitPlan(plan: $plan) { id } }", {
      plan,
    });
    expectClean(answer);
    expect(answer.status).toBe(200);
    const [error] = answer.body.errors;
    expect(error.message).toMatch(message);
    expect(error.path).toEqual(["submitPlan"]);
    expect(error.extensions).toMatchObject({
      code: "PLAN_INVALID",
      retryable: false,
      remedy: expect.any(String),
    });
    expect(error.extensions.diagnostics.length).toBeGreaterThan(0);
    expect(error.extensions.diagnostics.length).toBeLessThanOrEqual(100);
    expect(running.offered).toEqual([]);
    const stored = await running.graphql(
      `query ($id: ID!) { request(requestId: $id) { status error { code } diagnostics { code severity message stepId path suggestion }
         plan { status waitReason steps { id } selectedTools { name } plan document validationResult } } }`,
      { id: error.extensions.requestId },
    );
    expect(stored.body.data.request).toMatchObject({
      status: "FAILED",
      error: { code: "PLAN_INVALID" },
      plan: { status: "INVALID", waitReason: null },
    });
    expect(stored.body.data.request.diagnostics.length).toBeGreaterThan(0);
    for (const field of ["executePlan", "executeByRequestId"]) {
      const again = await running.graphql(`mutation ($id: ID!) { ${field}(requestId: $id) { id } }`, {
        id: error.extensions.requestId,
      });
      expect(again.body.errors[0].extensions.code).toBe("PLAN_INVALID");
    }
    expect(running.offered).toEqual([]);
  });
});

test("no refused request was a surprise to the service", () => {
  expect(running.logged).toEqual([]);
});
