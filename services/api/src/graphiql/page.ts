import { EXAMPLES } from "./examples.ts";
import { withLastRequest } from "./last-request.ts";

/**
 * The content security policy of the page: it loads only its own files. The editor creates styles at run
 * time; its icons are data URLs in the style sheet.
 */
export const PAGE_POLICY = [
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
export const PAGE = `<!doctype html>
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
export const PAGE_STYLE = "html, body, #graphiql { height: 100%; margin: 0; }\n";

/** Starts the editor on the API that served it: queries by POST, subscriptions over WebSocket. */
export const PAGE_SCRIPT = `"use strict";
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
