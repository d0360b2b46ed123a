import { createStore, type Store } from "@planwright/store";
import {
  type CountingTool,
  type WholeSystem as Services,
  startWholeSystem as startServices,
} from "@planwright/testing";

/** Parsed JSON of any shape; a test checks the parts that it reads. */
type Answer = ReturnType<typeof JSON.parse>;

/** API, planner and executor as processes, with the operations that tests of the planner use. */
export interface WholeSystem extends Services {
  store: Store;
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a sentence; `options` are further arguments of createPlan. Returns the request's id. */
  createPlan(query: string, options?: string): Promise<string>;
  /** Waits for a state of the request, as {@link REQUEST} reads it. */
  until(requestId: string, isReached: (request: Answer) => boolean): Promise<Answer>;
}

/** The fields of a request that tests read. */
const REQUEST = `query ($id: ID!) { request(requestId: $id) { status version replans error { code message } answer answerError { code message }
  modelCalls { purpose error { code } }
  plan { status policy: document steps { id status carriedFrom approvalHash resolvedArguments output error { code } } }
  plans { version status } } }`;
/** Long, for busy machines. */
const TIMEOUT_MS = 120_000;

/**
 * Starts all services except the planner.
 * @param env - environment of all services
 * @param tools - additional tools of the counting server
 * @param mcpServers - additional servers, as in the servers file
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
      const deadline = performance.now() + TIMEOUT_MS;
      for (;;) {
        const { request } = await graphql(REQUEST, { id: requestId });
        if (isReached(request)) return request;
        if (performance.now() > deadline) throw new TypeError(`It stays ${JSON.stringify(request)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async close() {
      await services.close();
      await store.close();
    },
  };
}
