import { packageFile } from "@planwright/runtime";
import { type RequestHandler, Router } from "express";

/** Placeholder for a requestId in the tabs of the page: the request that was created last. */
const LAST = "last";

/**
 * Placeholder for the current milliseconds in the sentence of the first tab: an e-mail address belongs to one
 * author.
 */
const NOW = "<now>";

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

/** One tab of the page. */
interface ExampleOperation {
  query: string;
  /** As JSON text. */
  variables?: string;
}

const LAST_ID = JSON.stringify({ requestId: LAST }, null, 2);

/** Example operations, one for each tab: from a sentence to its outputs and errors. */
export const EXAMPLES: readonly ExampleOperation[] = [
  {
    query: `# Plans a sentence and executes the plan.
# The next tabs use the request that this one creates.
# ${NOW} is replaced by the time, so that you can run it
# again: an e-mail address belongs to one author.
mutation CreatePlan($query: String!) {
  createPlan(query: $query, tags: ["graphiql"]) {
    requestId
    planId
    status
  }
}`,
    variables: JSON.stringify(
      {
        query: `Create author Alice with email alice-${NOW}@test.com, then create blog by Alice titled Hello about world`,
      },
      null,
      2,
    ),
  },
  {
    query: `# The current state: the plan, its steps,
# why they wait, and their outputs.
query Request($requestId: ID!) {
  request(requestId: $requestId) {
    status
    error { code message remedy }
    plan {
      status
      waitReason
      steps {
        key
        tool
        status
        waitReason
        arguments
        output
        error { code message remedy }
        durationMs
      }
      outputs
    }
  }
}`,
    variables: LAST_ID,
  },
  {
    query: `# The same after each change, until the end.
subscription Follow($requestId: ID!) {
  requestUpdated(requestId: $requestId) {
    status
    plan {
      status
      counts { total completed failed }
      steps { key status }
    }
  }
}`,
    variables: LAST_ID,
  },
  {
    query: `# Your own plan, checked against the tools.
# Nothing is stored; submitPlan would run it.
query Validate($plan: JSON!) {
  validatePlan(plan: $plan) {
    valid
    diagnostics { code severity stepId path message suggestion }
  }
}`,
    variables: JSON.stringify(
      {
        plan: {
          steps: [
            {
              id: "author",
              tool: "createAuthor",
              arguments: { name: "Bob", email: "bob@test.com" },
            },
            {
              id: "blog",
              tool: "createBlog",
              arguments: { title: "Hi", content: "code", authorId: "<<author._id>>" },
            },
          ],
        },
      },
      null,
      2,
    ),
  },
  {
    query: `# The newest requests that failed,
# and the tools that plans may use.
query Overview {
  requests(first: 10, filter: { status: [FAILED, PARTIAL] }) {
    nodes {
      requestId
      query
      createdAt
      plan { error { code message remedy } }
    }
  }
  getAvailableTools { name server description }
}`,
  },
  {
    query: `# Everything recorded under a request,
# without secrets, to share.
query Debug($requestId: ID!) {
  debugBundle(requestId: $requestId)
}`,
    variables: LAST_ID,
  },
];

/**
 * The content security policy of the page: it loads only its own files. The editor creates styles at run
 * time; its icons are data URLs in the style sheet.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page at /graphiql. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Planwright: GraphiQL</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/graphiql/graphiql.css">
    <link rel="stylesheet" href="/graphiql/page.css">
  </head>
  <body>
    <div id="graphiql">Loading</div>
    <script src="/graphiql/react.js"></script>
    <script src="/graphiql/react-dom.js"></script>
    <script src="/graphiql/graphiql.js"></script>
    <script src="/graphiql/page.js"></script>
  </body>
</html>
`;

/** Full height for the editor. */
const PAGE_STYLE = "html, body, #graphiql { height: 100%; margin: 0; }\n";

/** Starts the editor on the API that served it: queries by POST, subscriptions over WebSocket. */
const PAGE_SCRIPT = `"use strict";
const http = new URL("/graphql", location.href);
const socket = new URL(http);
const tabs = ${JSON.stringify(EXAMPLES)};
${withLastRequest.toString()}
socket.protocol = http.protocol === "https:" ? "wss:" : "ws:";
ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher: withLastRequest(
      GraphiQL.createFetcher({ url: http.href, subscriptionUrl: socket.href }),
      localStorage,
    ),
    defaultTabs: tabs,
    // For the first tab the editor takes only the operation; later it keeps what the user typed.
    variables: localStorage.getItem("graphiql:tabState") === null ? tabs[0].variables : undefined,
    defaultEditorToolsVisibility: "variables",
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
  }),
);
`;

const inPackage = (name: string, path: string) => packageFile(import.meta.url, name, path);

/** Files of npm packages as published: nothing is loaded from other sites, and nothing has to be built. */
const FILES = {
  "/graphiql.css": inPackage("graphiql", "dist/style.css"),
  "/graphiql.js": inPackage("graphiql", "dist/index.umd.js"),
  "/react.js": inPackage("react", "umd/react.production.min.js"),
  "/react-dom.js": inPackage("react-dom", "umd/react-dom.production.min.js"),
} as const;

/** Serves the GraphiQL editor with examples in its tabs; to be mounted at /graphiql. */
export function serveGraphiql(): RequestHandler {
  const router = Router();
  router.get("/", (_request, response) => {
    response.set("content-security-policy", PAGE_POLICY).type("html").send(PAGE);
  });
  router.get("/page.js", (_request, response) => void response.type("js").send(PAGE_SCRIPT));
  router.get("/page.css", (_request, response) => void response.type("css").send(PAGE_STYLE));
  for (const [path, file] of Object.entries(FILES)) {
    // Package managers may store packages in a folder whose name begins with a dot.
    router.get(path, (_request, response) =>
      response.sendFile(file, { dotfiles: "allow", cacheControl: false }),
    );
  }
  return router;
}
