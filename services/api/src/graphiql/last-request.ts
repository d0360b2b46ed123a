/** What stands in the place of a requestId in the tabs of the page: the request that was created last. */
export const LAST = "last";

/** What stands for the milliseconds of now in the sentence of the first tab: an e-mail address belongs to one author. */
export const NOW = "<now>";

/** An answer of the API, or one of several: those of a subscription, and the parts of a multipart answer, of which there may be one. */
interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { message: string }[];
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
 * The same fetcher; an operation whose requestId is "last" is sent with the requestId that a mutation of this page answered with last,
 * and a query that holds "<now>" with the time in its place. Without a last one the operation answers with an error that says what to do.
 * Runs in the browser as it stands here: it uses nothing from outside.
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
  // GraphiQL's own fetcher gives every answer in parts.
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
