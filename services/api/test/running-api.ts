import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import type { Hint } from "@planwright/queue";
import { createStore, type Store } from "@planwright/store";
import { returnDatabase, testServers } from "@planwright/testing";
import { type Api, type ApiDependencies, serveApi } from "../src/index.ts";

/** An answer of the service, as a client sees it. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON of any shape: a test checks the parts that it reads. Null if it is not JSON. */
  body: ReturnType<typeof JSON.parse>;
}

/** Sends requests to a service over real HTTP. */
export interface ApiClient {
  send(path: string, init?: RequestInit): Promise<Answer>;
  /** @param headers - default: none, as an anonymous caller */
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
}

/** The service over a real MongoDB. */
export interface RunningApi extends ApiClient {
  api: Api;
  store: Store;
  /** The offers to queues, such as "execution plan_…". */
  offered: string[];
  /** The logged warnings and errors. */
  logged: { facts: object; message: string }[];
  close(): Promise<void>;
}

/** Tools of a server "blog" in the catalogue: an author's _id is an argument of a blog. */
export const BLOG_TOOLS: ToolDescriptor[] = [
  tool("createAuthor", { name: { type: "string" }, email: { type: "string" } }, ["name", "email"]),
  tool(
    "createBlog",
    { title: { type: "string" }, content: { type: "string" }, authorId: { type: "string" } },
    ["title", "content", "authorId"],
  ),
];

/** A plan of two steps; the second one waits for the first. */
export const BLOG_PLAN = {
  steps: [
    { id: "createAuthor", tool: "createAuthor", arguments: { name: "Alice", email: "alice@test.com" } },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Hello", content: "world", authorId: "<<createAuthor._id>>" },
    },
  ],
};

/** Offers that no worker takes. */
export const NO_OFFERS: ApiDependencies["offers"] = {
  offerPlanning: () => undefined,
  offerExecution: () => undefined,
  reserveExecution: () => null,
};

/** Starts the service with the tools of {@link BLOG_TOOLS}. */
export async function startTestApi(
  options: Partial<
    Pick<
      ApiDependencies,
      | "allowedOrigins"
      | "anonymous"
      | "host"
      | "introspection"
      | "inlineOutputBytes"
      | "largeAnswersBytes"
      | "maxAnswerBytes"
      | "sendTimeoutMs"
      | "maxPendingMutations"
      | "maxPendingQueries"
      | "graphiql"
      | "mcp"
      | "modelLimits"
      | "partialAnswers"
      | "ports"
      | "maxSubscriptions"
      | "maxTotalSubscriptions"
      | "maxUnfinishedPlans"
      | "rateLimit"
      | "tokens"
      | "traces"
      | "traceUrlTemplate"
    >
  > = {},
): Promise<RunningApi> {
  const { mongodbUrl } = testServers();
  const store = await createStore({ url: mongodbUrl });
  await store.publishTools(
    "blog",
    BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name })),
  );
  const offered: string[] = [];
  const logged: RunningApi["logged"] = [];
  const log = (facts: object, message: string) => void logged.push({ facts, message });
  const api = await serveApi({
    store,
    offers: {
      offerPlanning: ({ _id }: Hint) => void offered.push(`planning ${_id}`),
      offerExecution: ({ _id }: Hint) => void offered.push(`execution ${_id}`),
      reserveExecution: () => null,
    },
    logger: { info: () => undefined, warn: log, error: log },
    host: "127.0.0.1",
    ports: [0],
    tenant: "default",
    introspection: true,
    ...options,
  });
  const close = async () => {
    await api.close();
    await store.close();
    await returnDatabase(mongodbUrl);
  };
  return { ...createApiClient(api.url), api, store, offered, logged, close };
}

/** @param url - of the GraphQL endpoint, or of another path of the service */
export function createApiClient(url: string): ApiClient {
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(new URL(path, url), init);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : null,
    };
  };
  const graphql = (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    send("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, variables }),
    });
  return { send, graphql };
}

function tool(name: string, properties: JsonObject, required: string[]): ToolDescriptor {
  return {
    name,
    server: "blog",
    title: name,
    description: `Does ${name}`,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    annotations: { readOnlyHint: false },
    _meta: { category: "blog" },
  };
}

/** Submits a plan without starting it, and returns its ids. */
export async function submitPlan(
  { graphql }: Pick<RunningApi, "graphql">,
  plan: object = BLOG_PLAN,
): Promise<{ requestId: string; planId: string }> {
  const document = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }";
  const { body } = await graphql(document, { plan });
  return body.data.submitPlan;
}
