/**
 * The third-party servers of `npm run proof:servers`, as npm publishes them: pinned versions, how each is
 * started, and one plan for each. A server that works without the internet runs a chained plan. The others get
 * dummy credentials and one call, which cannot succeed, as no connection leaves this machine.
 */

import type { JsonObject } from "@planwright/plan";

/** What a server and its plan may use. */
export interface ServerPlace {
  /** The folder of the server: its current folder, its home and its files. */
  folder: string;
  /** A local web page with the title "A page". */
  pageUrl: string;
  mongodbUrl: string;
  redisUrl: string;
  /** The program of a Chromium. */
  chromium: string;
}

/** A server, its package and its plan. */
export interface RealServer {
  package: string;
  /** Exact. */
  version: string;
  /** Name of its program in node_modules/.bin. */
  bin: string;
  args?: (place: ServerPlace) => string[];
  env?: (place: ServerPlace) => Record<string, string>;
  /** Files in its folder before it starts. */
  files?: Record<string, string>;
  /** The steps of its plan. */
  steps: (place: ServerPlace) => JsonObject[];
  /** How the plan ends: COMPLETED with this text in its outputs, or in this way and with this code. */
  ends: { shows: string } | { as: string };
}

/**
 * The server answers with an error: `isError`, or "internal error" of a tool that only reads, by its hint or a
 * reviewed contract.
 */
const FAILED = { as: "FAILED TOOL_FAILED" };

/** One call, which cannot succeed. */
const call = (tool: string, args: JsonObject = {}): JsonObject[] => [{ id: "call", tool, arguments: args }];

/** By the name of the server in the servers file. */
export const REAL_SERVERS: Readonly<Record<string, RealServer>> = {
  memory: {
    package: "@modelcontextprotocol/server-memory",
    version: "2026.8.31",
    bin: "mcp-server-memory",
    env: ({ folder }) => ({ MEMORY_FILE_PATH: `${folder}/memory.jsonl` }),
    steps: () => [
      {
        id: "create",
        tool: "memory/create_entities",
        arguments: { entities: [{ name: "Ada", entityType: "person", observations: ["wrote notes"] }] },
      },
      { id: "open", tool: "memory/open_nodes", arguments: { names: ["<<create.entities[0].name>>"] } },
    ],
    ends: { shows: "wrote notes" },
  },
  filesystem: {
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    bin: "mcp-server-filesystem",
    args: ({ folder }) => [folder],
    steps: ({ folder }) => [
      {
        id: "write",
        tool: "filesystem/write_file",
        arguments: { path: `${folder}/a.txt`, content: "first line" },
      },
      {
        id: "read",
        tool: "filesystem/read_text_file",
        arguments: { path: `${folder}/a.txt` },
        dependsOn: ["write"],
      },
      {
        id: "copy",
        tool: "filesystem/write_file",
        arguments: { path: `${folder}/b.txt`, content: "<<read.content>>, again" },
      },
      {
        id: "last",
        tool: "filesystem/read_text_file",
        arguments: { path: `${folder}/b.txt` },
        dependsOn: ["copy"],
      },
    ],
    ends: { shows: "first line, again" },
  },
  everything: {
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    bin: "mcp-server-everything",
    steps: () => [
      { id: "sum", tool: "everything/get-sum", arguments: { a: 2, b: 3 } },
      { id: "echo", tool: "everything/echo", arguments: { message: "It says: <<sum>>" } },
    ],
    ends: { shows: "It says: The sum of 2 and 3 is 5" },
  },
  "sequential-thinking": {
    package: "@modelcontextprotocol/server-sequential-thinking",
    version: "2026.8.31",
    bin: "mcp-server-sequential-thinking",
    steps: () => [
      {
        id: "one",
        tool: "sequential-thinking/sequentialthinking",
        arguments: { thought: "First", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 },
      },
      {
        id: "two",
        tool: "sequential-thinking/sequentialthinking",
        arguments: {
          thought: "Second",
          nextThoughtNeeded: false,
          thoughtNumber: "<<one.totalThoughts>>",
          totalThoughts: 2,
        },
      },
    ],
    ends: { shows: '"thoughtHistoryLength":2' },
  },
  git: {
    package: "@cyanheads/git-mcp-server",
    version: "2.15.3",
    bin: "git-mcp-server",
    env: ({ folder }) => ({
      GIT_AUTHOR_NAME: "Ada",
      GIT_AUTHOR_EMAIL: "ada@example.com",
      GIT_COMMITTER_NAME: "Ada",
      GIT_COMMITTER_EMAIL: "ada@example.com",
      GIT_BASE_DIR: folder,
      LOGS_DIR: `${folder}/logs`,
    }),
    steps: ({ folder }) => [
      { id: "init", tool: "git/git_init", arguments: { path: `${folder}/repository` } },
      {
        id: "commit",
        tool: "git/git_commit",
        arguments: { path: "<<init.path>>", message: "A first commit", allowEmpty: true },
      },
      {
        id: "log",
        tool: "git/git_log",
        arguments: { path: "<<init.path>>" },
        dependsOn: ["commit"],
      },
    ],
    ends: { shows: "A first commit" },
  },
  mongodb: {
    package: "mongodb-mcp-server",
    version: "3.0.4",
    bin: "mongodb-mcp-server",
    env: ({ mongodbUrl }) => ({ MDB_MCP_CONNECTION_STRING: mongodbUrl, MDB_MCP_TELEMETRY: "disabled" }),
    steps: () => [
      {
        id: "insert",
        tool: "mongodb/insert-many",
        arguments: {
          connectionId: "preconfigured",
          database: "proof_servers",
          collection: "notes",
          documents: [{ text: "a note" }],
        },
      },
      {
        id: "find",
        tool: "mongodb/find",
        arguments: { connectionId: "preconfigured", database: "proof_servers", collection: "notes" },
        dependsOn: ["insert"],
      },
    ],
    ends: { shows: "a note" },
  },
  redis: {
    package: "@modelcontextprotocol/server-redis",
    version: "2025.4.25",
    bin: "mcp-server-redis",
    args: ({ redisUrl }) => [redisUrl],
    steps: () => [
      { id: "set", tool: "redis/set", arguments: { key: "proof-servers", value: "a value" } },
      { id: "get", tool: "redis/get", arguments: { key: "proof-servers" }, dependsOn: ["set"] },
    ],
    ends: { shows: "a value" },
  },
  "desktop-commander": {
    package: "@wonderwhy-er/desktop-commander",
    version: "0.2.52",
    bin: "desktop-commander",
    args: () => ["--no-onboarding"],
    steps: ({ folder }) => [
      {
        id: "write",
        tool: "desktop-commander/write_file",
        arguments: { path: `${folder}/note.txt`, content: "a short note" },
      },
      {
        id: "read",
        tool: "desktop-commander/read_file",
        arguments: { path: `${folder}/note.txt` },
        dependsOn: ["write"],
      },
    ],
    ends: { shows: "a short note" },
  },
  eslint: {
    package: "@eslint/mcp",
    version: "0.3.13",
    bin: "mcp",
    files: {
      "eslint.config.js": 'module.exports = [{ rules: { "no-debugger": "error" } }];\n',
      "a.js": "debugger;\n",
      "package.json": "{}\n",
    },
    steps: ({ folder }) => [
      { id: "lint", tool: "eslint/lint-files", arguments: { filePaths: [`${folder}/a.js`] } },
      { id: "echo", tool: "everything/echo", arguments: { message: "<<lint>>" } },
    ],
    ends: { shows: "no-debugger" },
  },
  playwright: {
    package: "@playwright/mcp",
    version: "0.0.83",
    bin: "playwright-mcp",
    args: ({ chromium, folder }) => [
      "--headless",
      "--isolated",
      "--no-sandbox",
      "--executable-path",
      chromium,
      "--output-dir",
      `${folder}/output`,
    ],
    steps: ({ pageUrl }) => [
      { id: "open", tool: "playwright/browser_navigate", arguments: { url: pageUrl } },
      { id: "look", tool: "playwright/browser_snapshot", dependsOn: ["open"] },
    ],
    ends: { shows: "What stands on it" },
  },
  "chrome-devtools": {
    package: "chrome-devtools-mcp",
    version: "1.11.0",
    bin: "chrome-devtools-mcp",
    args: ({ chromium }) => [
      "--headless",
      "--isolated",
      "--no-usage-statistics",
      "--chromeArg=--no-sandbox",
      "--executablePath",
      chromium,
    ],
    steps: ({ pageUrl }) => [
      { id: "open", tool: "chrome-devtools/new_page", arguments: { url: pageUrl } },
      {
        id: "look",
        tool: "chrome-devtools/take_snapshot",
        arguments: { pageId: 2 },
        dependsOn: ["open"],
      },
    ],
    ends: { shows: "What stands on it" },
  },
  github: {
    package: "@modelcontextprotocol/server-github",
    version: "2025.4.8",
    bin: "mcp-server-github",
    env: () => ({ GITHUB_PERSONAL_ACCESS_TOKEN: "dummy" }),
    steps: () => call("github/search_repositories", { query: "planwright" }),
    ends: FAILED,
  },
  gitlab: {
    package: "@modelcontextprotocol/server-gitlab",
    version: "2025.4.25",
    bin: "mcp-server-gitlab",
    env: () => ({ GITLAB_PERSONAL_ACCESS_TOKEN: "dummy" }),
    steps: () => call("gitlab/search_repositories", { search: "planwright" }),
    ends: FAILED,
  },
  slack: {
    package: "@modelcontextprotocol/server-slack",
    version: "2025.4.25",
    bin: "mcp-server-slack",
    env: () => ({ SLACK_BOT_TOKEN: "xoxb-dummy", SLACK_TEAM_ID: "T0" }),
    steps: () => call("slack/slack_list_channels"),
    ends: { shows: "fetch failed" },
  },
  "google-maps": {
    package: "@modelcontextprotocol/server-google-maps",
    version: "0.6.2",
    bin: "mcp-server-google-maps",
    env: () => ({ GOOGLE_MAPS_API_KEY: "dummy" }),
    steps: () => call("google-maps/maps_geocode", { address: "Berlin" }),
    ends: FAILED,
  },
  notion: {
    package: "@notionhq/notion-mcp-server",
    version: "2.5.2",
    bin: "notion-mcp-server",
    env: () => ({ NOTION_TOKEN: "ntn_dummy" }),
    steps: () => call("notion/API-get-self"),
    ends: FAILED,
  },
  airtable: {
    package: "airtable-mcp-server",
    version: "1.14.0",
    bin: "airtable-mcp-server",
    env: () => ({ AIRTABLE_API_KEY: "pat.dummy" }),
    steps: () => call("airtable/list_bases"),
    ends: FAILED,
  },
  firecrawl: {
    package: "firecrawl-mcp",
    version: "3.26.0",
    bin: "firecrawl-mcp",
    env: () => ({ FIRECRAWL_API_KEY: "fc-dummy" }),
    steps: () => call("firecrawl/firecrawl_map", { url: "https://example.com" }),
    ends: FAILED,
  },
  tavily: {
    package: "tavily-mcp",
    version: "0.2.22",
    bin: "tavily-mcp",
    env: () => ({ TAVILY_API_KEY: "tvly-dummy" }),
    steps: () => call("tavily/tavily_search", { query: "planwright" }),
    ends: FAILED,
  },
  exa: {
    package: "exa-mcp-server",
    version: "3.4.1",
    bin: "exa-mcp-server",
    env: () => ({ EXA_API_KEY: "dummy" }),
    steps: () => call("exa/web_search_exa", { query: "planwright" }),
    ends: FAILED,
  },
  sentry: {
    package: "@sentry/mcp-server",
    version: "0.39.0",
    bin: "sentry-mcp",
    args: () => ["--access-token=dummy"],
    steps: () => call("sentry/find_organizations"),
    ends: FAILED,
  },
  kubernetes: {
    package: "mcp-server-kubernetes",
    version: "4.1.7",
    bin: "mcp-server-kubernetes",
    steps: () => call("kubernetes/kubectl_get", { resourceType: "pods" }),
    ends: FAILED,
  },
  context7: {
    package: "@upstash/context7-mcp",
    version: "4.1.1",
    bin: "context7-mcp",
    steps: () => call("context7/resolve-library-id", { query: "plans", libraryName: "planwright" }),
    ends: { shows: "Error searching libraries" },
  },
  brave: {
    package: "@brave/brave-search-mcp-server",
    version: "2.1.4",
    bin: "brave-search-mcp-server",
    env: () => ({ BRAVE_API_KEY: "dummy" }),
    steps: () => call("brave/brave_web_search", { query: "planwright" }),
    ends: FAILED,
  },
  figma: {
    package: "figma-developer-mcp",
    version: "0.13.2",
    bin: "figma-developer-mcp",
    args: () => ["--stdio"],
    env: () => ({ FIGMA_API_KEY: "dummy" }),
    steps: () => call("figma/get_figma_data", { fileKey: "a1b2c3" }),
    ends: FAILED,
  },
  chart: {
    package: "@antv/mcp-server-chart",
    version: "0.9.10",
    bin: "mcp-server-chart",
    steps: () => call("chart/generate_pie_chart", { data: [{ category: "all", value: 1 }] }),
    ends: FAILED,
  },
};
