import { expect, test } from "vitest";
import { withLastRequest } from "./last-request.ts";

/** What the page sends, and what it remembers. */
function page(answer: object) {
  const kept = new Map<string, string>();
  const memory = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const sent: unknown[] = [];
  const fetcher = withLastRequest(async (operation) => {
    sent.push(operation.variables ?? null);
    return { data: { ...answer } };
  }, memory);
  return { fetcher, sent };
}

const MUTATION =
  "# Plans a sentence.\nmutation CreatePlan($query: String!) { createPlan(query: $query) { requestId } }";
const QUERY = "query Request($requestId: ID!) { request(requestId: $requestId) { status } }";

test("the tabs mean the request that was created last", async () => {
  const { fetcher, sent } = page({ createPlan: { requestId: "req_1" } });
  await fetcher({ query: MUTATION, variables: { query: "x" } });
  await fetcher({ query: QUERY, variables: { requestId: "last" } });
  await fetcher({ query: QUERY, variables: { requestId: "req_2" } });
  expect(sent).toEqual([{ query: "x" }, { requestId: "req_1" }, { requestId: "req_2" }]);
});

test("before there is one it is said what to do", async () => {
  const { fetcher, sent } = page({ request: null });
  await expect(fetcher({ query: QUERY, variables: { requestId: "last" } })).rejects.toThrow(
    "run the first tab",
  );
  expect(sent).toEqual([]);
});

test("a query that reads another request does not become the last one", async () => {
  const { fetcher, sent } = page({ request: { requestId: "req_9" } });
  await fetcher({ query: QUERY, variables: { requestId: "req_9" } });
  await expect(fetcher({ query: QUERY, variables: { requestId: "last" } })).rejects.toThrow();
  expect(sent).toHaveLength(1);
});
