import { createStore, type Store } from "@planwright/store";
import {
  type CountingTool,
  type WholeSystem as Services,
  startWholeSystem as startServices,
} from "@planwright/testing";

/** Parsed JSON, of any shape: what a test reads of it, it checks. */
type Answer = ReturnType<typeof JSON.parse>;

/** API, planner and executor as processes, with what tests of the planner ask them. */
export interface WholeSystem extends Services {
  store: Store;
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a sentence; `options` are further arguments of createPlan. Gives the request's id. */
  createPlan(query: string, options?: string): Promise<string>;
  /** Waits for a state of the request, as {@link REQUEST} reads it. */
  until(requestId: string, isReached: (request: Answer) => boolean): Promise<Answer>;
}

/** What tests read of a request. */
const REQUEST = `query ($id: ID!) { request(requestId: $id) { status version replans error { code message } answer answerError { code message }
  modelCalls { purpose error { code } }
  plan { status policy: document steps { id status carriedFrom approvalHash resolvedArguments output error { code } } }
  plans { version status } } }`;
/** For machines with much else to do. */
const TIMEOUT_MS = 120_000;

/**
 * Starts everything but the planner.
 * @param env - environment of all services
 * @param tools - of the counting server beside the usual ones
 * @param mcpServers - servers beside it, as in the file of servers
 */
export async function startWholeSystem(
  env: Record<string, string> = {},
  tools: readonly CountingTool[] = [],
  mcpServers: Readonly<Record<string, object>> = {},
): Promise<WholeSystem> {
  const services = await startServices({ env, tools, mcpServers });
  const store = await createStore({ url: services.mongodbUrl });

  async function graphql(
    query: string,
    variables: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(services.apiUrl, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors }: Answer = await response.json();
    if (errors) throw new TypeError(JSON.stringify(errors));
    return data;
  }

  return {
    ...services,
    store,
    graphql,
    async createPlan(query, options = "") {
      const field = `createPlan(query: $query${options === "" ? "" : `, ${options}`})`;
      const data = await graphql(`mutation ($query: String!) { ${field} { requestId } }`, { query });
      return data.createPlan.requestId;
    },
    async until(requestId, isReached) {
      const giveUpAt = performance.now() + TIMEOUT_MS;
      for (;;) {
        const { request } = await graphql(REQUEST, { id: requestId });
        if (isReached(request)) return request;
        if (performance.now() > giveUpAt) throw new TypeError(`It stays ${JSON.stringify(request)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async close() {
      await services.close();
      await store.close();
    },
  };
}
