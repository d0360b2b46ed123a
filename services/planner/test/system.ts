import { createStore, type Store } from "@planwright/store";
import {
  type System as Roles,
  type SystemOptions,
  startSystem as startRoles,
  startWholeSystem,
  type WholeSystem,
} from "@planwright/testing";

/** Parsed JSON of any shape; a test checks the parts that it reads. */
type Answer = ReturnType<typeof JSON.parse>;

/** What tests of the planner do with a system. */
interface Operations {
  store: Store;
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a sentence; `options` are further arguments of createPlan. Returns the request's id. */
  createPlan(query: string, options?: string): Promise<string>;
  /** Waits for a state of the request, as {@link REQUEST} reads it. */
  until(requestId: string, isReached: (request: Answer) => boolean): Promise<Answer>;
}

/** API, planner and executor in the process of the test, with the operations that tests of the planner use. */
export type System = Roles & Operations;

/** The fields of a request that tests read. */
const REQUEST = `query ($id: ID!) { request(requestId: $id) { status version replans error { code message } answer answerError { code message }
  modelCalls { purpose error { code } }
  plan { status policy: document steps { id status carriedFrom approvalHash resolvedArguments output error { code } } }
  plans { version status } } }`;
/** Long, for busy machines. */
const TIMEOUT_MS = 120_000;

/** Starts all roles except the planner. */
export function startSystem(options?: SystemOptions): Promise<System> {
  return withOperations(startRoles(options));
}

/** The same as three processes. */
export type Processes = WholeSystem & Operations;

/** Starts all roles except the planner, as processes: for tests that kill a planner. */
export function startProcesses(options?: SystemOptions): Promise<Processes> {
  return withOperations(startWholeSystem(options));
}

/** Adds the operations to a system that is starting; its end also ends what they use. */
async function withOperations<Started extends Pick<Roles, "apiUrl" | "mongodbUrl" | "close">>(
  starting: Promise<Started>,
): Promise<Started & Operations> {
  const services = await starting;
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
