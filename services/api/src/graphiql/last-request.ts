/** Placeholder for a requestId in the tabs of the page: the request that was created last. */
export const LAST = "last";

/**
 * Placeholder for the current milliseconds in the sentence of the first tab: an e-mail address belongs to one
 * author.
 */
export const NOW = "<now>";

/** One result of the API: of a query, of a subscription, or of a multipart answer. */
interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { message: string }[];
}
type Fetcher = (
  operation: { query: string; variables?: Record<string, unknown> | null },
  options?: unknown,
) => Promise<Answer | AsyncIterable<Answer>>;

/** Storage of the page, such as `localStorage`. */
interface Memory {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/**
 * A fetcher that replaces the requestId "last" by the newest requestId that a mutation of this page returned,
 * and "<now>" in a query by the time. Without such a request the operation returns an error that explains
 * what to do. The source of this function runs in the browser, so it uses nothing from outside.
 */
export function withLastRequest(fetcher: Fetcher, memory: Memory): Fetcher {
  const key = "planwright:last-request";
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  const remember = (answer: Answer) => {
    for (const field of isObject(answer.data) ? Object.values(answer.data) : []) {
      if (isObject(field) && typeof field["requestId"] === "string") memory.setItem(key, field["requestId"]);
    }
    return answer;
  };
  // The fetcher of GraphiQL returns every answer as an async iterable.
  async function* remembered(answers: AsyncIterable<Answer>) {
    for await (const answer of answers) yield remember(answer);
  }
  return async (operation, options) => {
    let { variables } = operation;
    if (variables && variables["requestId"] === "last") {
      const requestId = memory.getItem(key);
      if (requestId === null)
        return {
          errors: [{ message: "There is no last request yet: run the first tab, or give a requestId" }],
        };
      variables = { ...variables, requestId };
    }
    if (variables && typeof variables["query"] === "string") {
      variables = { ...variables, query: variables["query"].replace("<now>", String(Date.now())) };
    }
    const answer = await fetcher({ ...operation, variables: variables ?? null }, options);
    if (!/(?:^|\n)\s*mutation\b/.test(operation.query)) return answer;
    return Symbol.asyncIterator in answer ? remembered(answer) : remember(answer);
  };
}
