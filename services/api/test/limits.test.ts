/** Both sides of every limit for documents, and that what is beyond one is refused before it is validated. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

/** A document of so many nested fields. */
function nested(depth: number): string {
  const names = Array.from({ length: depth - 3 }, (_, index) => (index % 2 === 0 ? "plan" : "request"));
  const fields = ["requests(first: 1)", "nodes", ...names, "id"];
  return `{ ${fields.join(" { ")} ${"}".repeat(depth)}`;
}

/** A document of so many tokens. */
function tokens(count: number): string {
  return `{ requests(status: [${"READY ".repeat(count - 15)}]) { nodes { id } } }`;
}

/** A document of so many aliases. */
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

test("a document beyond a limit is not validated: its answer tells the limit alone", async () => {
  const unknown = Array.from({ length: 16 }, (_, index) => `a${index}: nothing${index}`).join(" ");
  const asked = await running.graphql(`{ ${unknown} ...Missing }`);
  const { text } = await running.send("/graphql/stream", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: `subscription { ${unknown} ...Missing }` }),
  });
  const [, event = text] = /^data: (.*)$/m.exec(text) ?? [];
  for (const { errors } of [asked.body, JSON.parse(event)]) {
    expect(errors).toMatchObject([{ extensions: { code: "QUERY_TOO_COMPLEX", limit: "aliases", max: 15 } }]);
  }
});
