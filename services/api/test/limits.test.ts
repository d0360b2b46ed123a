/** Both sides of every limit for documents. A document beyond a limit is refused before it is validated. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

/** A document with this many nested fields. */
function nested(depth: number): string {
  const names = Array.from({ length: depth - 3 }, (_, index) => (index % 2 === 0 ? "plan" : "request"));
  const fields = ["requests(first: 1)", "nodes", ...names, "id"];
  return `{ ${fields.join(" { ")} ${"}".repeat(depth)}`;
}

/** A document with this many tokens. */
function tokens(count: number): string {
  return `{ requests(status: [${"READY ".repeat(count - 15)}]) { nodes { id } } }`;
}

/** A document with this many aliases. */
function aliases(count: number): string {
  const fields = Array.from({ length: count }, (_, index) => `a${index}: getAvailableTools { name }`);
  return `{ ${fields.join(" ")} }`;
}

test.each([
  { limit: "depth", max: 12, documentOf: nested },
  { limit: "tokens", max: 2_000, documentOf: tokens },
  { limit: "aliases", max: 15, documentOf: aliases },
])("$max are within the limit for $limit, one more is refused", async ({ limit, max, documentOf }) => {
  const within = await running.graphql(documentOf(max));
  expect(within.body.errors).toBeUndefined();
  expect(within.body.data).toEqual(expect.anything());
  const beyond = await running.graphql(documentOf(max + 1));
  expect(beyond.status).toBe(400);
  expect(beyond.body.errors[0]).toMatchObject({
    message: expect.stringContaining(limit),
    extensions: { code: "QUERY_TOO_COMPLEX" },
  });
});

test("a document beyond a limit is not validated: its answer only names the limit", async () => {
  const unknown = Array.from({ length: 16 }, (_, index) => `a${index}: nothing${index}`).join(" ");
  const answer = await running.graphql(`{ ${unknown} ...Missing }`);
  const { text } = await running.send("/graphql/stream", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: `subscription { ${unknown} ...Missing }` }),
  });
  const [, event = text] = /^data: (.*)$/m.exec(text) ?? [];
  for (const { errors } of [answer.body, JSON.parse(event)]) {
    expect(errors).toMatchObject([{ extensions: { code: "QUERY_TOO_COMPLEX", limit: "aliases", max: 15 } }]);
  }
});

/** The list of requests as the console reads it, with a fragment for a row. */
const ROW = `requestId status source query tags version createdAt updatedAt error { code }
  plan { status waitReason durationMs error { code } counts { total completed failed inDoubt running } }`;
const PAGE_INFO = "pageInfo { hasNextPage endCursor }";

test.each([
  ["in the document", `query ($first: Int!) { requests(first: $first) { nodes { ${ROW} } ${PAGE_INFO} } }`],
  [
    "in a fragment",
    `query ($first: Int!) { requests(first: $first) { nodes { ...Row } ${PAGE_INFO} } } fragment Row on Request { ${ROW} }`,
  ],
  [
    "in nested fragments",
    `query ($first: Int!) { requests(first: $first) { nodes { ...Row } ${PAGE_INFO} } }
     fragment Row on Request { ...Fields } fragment Fields on Request { ... on Request { ${ROW} } }`,
  ],
])("a page of 50 rows is within the limit for cost, with the fields %s", async (_, document) => {
  const { status, body } = await running.graphql(document, { first: 50 });
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
});

/** What waits for people, as the console reads it: three lists of one shape. */
const NEEDED = "nodes { requestId title updatedAt plan { expiresAt } } pageInfo { hasNextPage }";

test.each([
  ["written three times", NEEDED, ""],
  ["in a fragment", "...Needed", `fragment Needed on RequestConnection { ${NEEDED} }`],
  ["in a fragment without a name", `... on RequestConnection { ${NEEDED} }`, ""],
])("three lists of 100 are within the limit for cost, with the fields %s", async (_, fields, fragment) => {
  const lists = ["APPROVAL", "DOUBT", "ANSWER"].map(
    (needs) => `${needs}: requests(first: 100, filter: { needs: ${needs} }) { ${fields} }`,
  );
  const { status, body } = await running.graphql(`{ ${lists.join(" ")} } ${fragment}`);
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
});

test("a document that was within the limit is measured again with other page sizes", async () => {
  const steps = "stepsConnection(first: $first) { nodes { key tool status attempts { attempt outcome } } }";
  const document = `query ($first: Int!) { requests(first: $first) { nodes { plan { ${steps} } } } }`;
  const statuses = [];
  for (const first of [1, 50, 1]) statuses.push((await running.graphql(document, { first })).status);
  expect(statuses).toEqual([200, 400, 200]);
});

test("fragments do not make a document cheaper", async () => {
  const steps = "stepsConnection(first: 20) { nodes { key tool status attempts { attempt outcome } } }";
  const spread = (name: string) => `...${name}`;
  for (const document of [
    `{ requests(first: 50) { nodes { plan { ${steps} } } } }`,
    `{ requests(first: 50) { nodes { ...A } } } fragment A on Request { plan { ${steps} } }`,
    `{ requests(first: 20) { nodes { ...A ...B ...C } } } fragment A on Request { ${spread("C")} } fragment B on Request { ${spread("C")} }
     fragment C on Request { plan { stepsConnection(first: 8) { nodes { key tool status attempts { attempt outcome } } } } }`,
  ]) {
    const { status, body } = await running.graphql(document);
    expect({ document, status }).toEqual({ document, status: 400 });
    expect(body.errors[0].extensions).toMatchObject({
      code: "QUERY_TOO_COMPLEX",
      limit: "cost",
      max: 10_000,
    });
  }
});
