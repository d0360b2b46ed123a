import { expect, test } from "vitest";
import { withLastRequest } from "./graphiql-page.ts";

/** The page: the operations that it sends, with the given answer, and a memory. */
function page(answer: object, isInParts = false) {
  const kept = new Map<string, string>();
  const memory = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const sent: unknown[] = [];
  const fetcher = withLastRequest(async (operation) => {
    sent.push(operation.variables ?? null);
    return isInParts ? inParts({ data: { ...answer } }) : { data: { ...answer } };
  }, memory);
  return { fetcher, sent };
}

/** Yields an answer as the fetcher of GraphiQL does. */
async function* inParts<T>(answer: T) {
  yield answer;
}

/** Reads an answer as the page does. */
async function read(answer: object): Promise<unknown[]> {
  if (!isParts(answer)) return [answer];
  const parts: unknown[] = [];
  for await (const part of answer) parts.push(part);
  return parts;
}

function isParts(answer: object): answer is AsyncIterable<unknown> {
  return Symbol.asyncIterator in answer;
}

const MUTATION =
  "# Plans a sentence.\nmutation CreatePlan($query: String!) { createPlan(query: $query) { requestId } }";
const QUERY = "query Request($requestId: ID!) { request(requestId: $requestId) { status } }";

test.each([
  ["complete", false],
  ["in parts", true],
])("the tabs use the request that was created last, when answers come %s", async (_, isInParts) => {
  const { fetcher, sent } = page({ createPlan: { requestId: "req_1" } }, isInParts);
  await read(await fetcher({ query: MUTATION, variables: { query: "x" } }));
  await fetcher({ query: QUERY, variables: { requestId: "last" } });
  await fetcher({ query: QUERY, variables: { requestId: "req_2" } });
  expect(sent).toEqual([{ query: "x" }, { requestId: "req_1" }, { requestId: "req_2" }]);
});

test("before the first request an error explains what to do", async () => {
  const { fetcher, sent } = page({ request: null });
  const answer = await fetcher({ query: QUERY, variables: { requestId: "last" } });
  expect(answer).toEqual({ errors: [{ message: expect.stringContaining("run the first tab") }] });
  expect(sent).toEqual([]);
});

test("a query that reads another request does not become the last one", async () => {
  const { fetcher, sent } = page({ request: { requestId: "req_9" } });
  await fetcher({ query: QUERY, variables: { requestId: "req_9" } });
  expect(await fetcher({ query: QUERY, variables: { requestId: "last" } })).toHaveProperty("errors");
  expect(sent).toHaveLength(1);
});

test("the sentence of the first tab has another e-mail address each time", async () => {
  const { fetcher, sent } = page({ createPlan: { requestId: "req_1" } });
  await fetcher({ query: MUTATION, variables: { query: "Create author Al with email al-<now>@test.com" } });
  expect(sent).toEqual([{ query: expect.stringMatching(/al-\d{13}@test\.com$/) }]);
});
