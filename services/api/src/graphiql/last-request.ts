/** What stands in the place of a requestId in the tabs of the page: the request that was created last. */
export const LAST = "last";

/** An answer of the API, or one of the answers of a subscription. */
interface Answer {
  data?: Record<string, unknown> | null;
}
type Fetcher = (
  operation: { query: string; variables?: Record<string, unknown> | null },
  options?: unknown,
) => Promise<Answer | AsyncIterable<Answer>>;

/** Where the page remembers: `localStorage`, or the like of it. */
interface Memory {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/**
 * The same fetcher; an operation whose requestId is "last" is sent with the requestId that a mutation of this page answered with last.
 * Without one the operation answers with an error that says what to do. Runs in the browser as it stands here: it uses nothing from outside.
 */
export function withLastRequest(fetcher: Fetcher, memory: Memory): Fetcher {
  const key = "planwright:last-request";
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  return async (operation, options) => {
    let { variables } = operation;
    if (variables && variables["requestId"] === "last") {
      const requestId = memory.getItem(key);
      if (requestId === null)
        throw new Error("There is no last request yet: run the first tab, or give a requestId");
      variables = { ...variables, requestId };
    }
    const answer = await fetcher({ ...operation, variables: variables ?? null }, options);
    if (Symbol.asyncIterator in answer || !isObject(answer.data)) return answer;
    const isChange = /(?:^|\n)\s*mutation\b/.test(operation.query);
    for (const field of isChange ? Object.values(answer.data) : []) {
      if (isObject(field) && typeof field["requestId"] === "string") memory.setItem(key, field["requestId"]);
    }
    return answer;
  };
}
