/**
 * Contracts of well-known servers that publish none, for `"contracts": "known"` in the servers file. Each line
 * was reviewed against the documentation or the source of the package at the named version, and is here only
 * because it is certain: a tool in doubt has no line. Left out, for example: `aggregate` of MongoDB, which may
 * write by `$out` although its server calls it read-only; `kubectl_context`, which may switch the context; tools
 * that write a file when an argument names one.
 *
 * After a change of a version or a line: read the documentation and the source of that tool again, then run
 * `npm run proof:servers -- --update`, which writes reviewed-digests.ts.
 */
import type { ContractDeclaration } from "@planwright/plan";

/** One tool: its contract, and where the review found it. */
type ReviewedLine = readonly [contract: ContractDeclaration, from: string];

/** The reviewed tools of one package. */
interface ReviewedPackage {
  /** The version that was read. Another one counts where the schema of the tool is the same. */
  version: string;
  tools: Readonly<Record<string, ReviewedLine>>;
}

/** It changes nothing. */
const READ: ContractDeclaration = { side_effects: false };
/** A repeat with the same arguments changes nothing more. */
const REPEATABLE: ContractDeclaration = { idempotency: "natural" };

const get = (path: string): ReviewedLine => [READ, `source: it only sends GET ${path}`];
const notion = (path: string): ReviewedLine => [READ, `Notion API reference: GET /v1/${path}`];
const airtable = (what: string): ReviewedLine => [READ, `source, airtableService: ${what} by GET`];
const readFile = (what: string): ReviewedLine => [READ, `README, tool annotations: ${what}`];
const mongodb = (what: string): ReviewedLine => [READ, `README, MongoDB database tools: ${what}`];
const git = (what: string): ReviewedLine => [READ, `README, tools: ${what}`];
const kubectl = (command: string): ReviewedLine => [READ, `source: it only runs kubectl ${command}`];
const brave = (path: string): ReviewedLine => [READ, `source, BraveAPI: it only sends GET /res/v1/${path}`];
const chrome = (what: string): ReviewedLine => [READ, `source, build/src/tools: ${what}`];
const desktop = (what: string): ReviewedLine => [READ, `source, dist/tools: ${what}`];

/** By the name of the package on npm. */
export const REVIEWED_CONTRACTS: Readonly<Record<string, ReviewedPackage>> = {
  "@modelcontextprotocol/server-filesystem": {
    version: "2026.8.31",
    tools: {
      read_file: readFile("the old name of read_text_file, a pure read"),
      read_text_file: readFile("pure read"),
      read_media_file: readFile("pure read"),
      read_multiple_files: readFile("pure read"),
      list_directory: readFile("pure read"),
      list_directory_with_sizes: readFile("pure read"),
      directory_tree: readFile("pure read"),
      search_files: readFile("pure read"),
      get_file_info: readFile("pure read"),
      list_allowed_directories: readFile("pure read"),
      create_directory: [
        REPEATABLE,
        "README, tool annotations: creating the same directory again does nothing",
      ],
      write_file: [REPEATABLE, "README, tool annotations: idempotent, overwrites existing files"],
    },
  },
  "@modelcontextprotocol/server-memory": {
    version: "2026.8.31",
    tools: {
      read_graph: [READ, "README, API: reads the entire knowledge graph"],
      search_nodes: [READ, "README, API: searches for nodes"],
      open_nodes: [READ, "README, API: retrieves nodes by name"],
      delete_entities: [REPEATABLE, "README, API: silent operation if the entity does not exist"],
      delete_observations: [REPEATABLE, "README, API: silent operation if the observation does not exist"],
      delete_relations: [REPEATABLE, "README, API: silent operation if the relation does not exist"],
    },
  },
  "@modelcontextprotocol/server-github": {
    version: "2025.4.8",
    tools: {
      search_repositories: get("/search/repositories"),
      search_code: get("/search/code"),
      search_issues: get("/search/issues"),
      search_users: get("/search/users"),
      get_file_contents: get("/repos/…/contents"),
      list_commits: get("/repos/…/commits"),
      list_issues: get("/repos/…/issues"),
      get_issue: get("/repos/…/issues/…"),
      list_pull_requests: get("/repos/…/pulls"),
      get_pull_request: get("/repos/…/pulls/…"),
      get_pull_request_files: get("/repos/…/pulls/…/files"),
      get_pull_request_status: get("/repos/…/commits/…/status"),
      get_pull_request_comments: get("/repos/…/pulls/…/comments"),
      get_pull_request_reviews: get("/repos/…/pulls/…/reviews"),
    },
  },
  "@modelcontextprotocol/server-gitlab": {
    version: "2025.4.25",
    tools: {
      search_repositories: get("/projects"),
      get_file_contents: get("/projects/…/repository/files"),
    },
  },
  "@modelcontextprotocol/server-slack": {
    version: "2025.4.25",
    tools: {
      slack_list_channels: get("conversations.list or conversations.info"),
      slack_get_channel_history: get("conversations.history"),
      slack_get_thread_replies: get("conversations.replies"),
      slack_get_users: get("users.list"),
      slack_get_user_profile: get("users.profile.get"),
    },
  },
  "@modelcontextprotocol/server-google-maps": {
    version: "0.6.2",
    tools: {
      maps_geocode: get("/maps/api/geocode"),
      maps_reverse_geocode: get("/maps/api/geocode"),
      maps_search_places: get("/maps/api/place/textsearch"),
      maps_place_details: get("/maps/api/place/details"),
      maps_distance_matrix: get("/maps/api/distancematrix"),
      maps_elevation: get("/maps/api/elevation"),
      maps_directions: get("/maps/api/directions"),
    },
  },
  "@notionhq/notion-mcp-server": {
    version: "2.5.2",
    tools: {
      "API-get-user": notion("users/{user_id}"),
      "API-get-users": notion("users"),
      "API-get-self": notion("users/me"),
      "API-post-search": [READ, "Notion API reference: POST /v1/search only searches by title"],
      "API-query-data-source": [READ, "Notion API reference: POST …/query only filters and sorts pages"],
      "API-get-block-children": notion("blocks/{block_id}/children"),
      "API-retrieve-a-block": notion("blocks/{block_id}"),
      "API-retrieve-a-page": notion("pages/{page_id}"),
      "API-retrieve-a-page-property": notion("pages/{page_id}/properties/{property_id}"),
      "API-retrieve-page-markdown": notion("pages/{page_id}/markdown"),
      "API-retrieve-a-comment": notion("comments"),
      "API-retrieve-a-data-source": notion("data_sources/{data_source_id}"),
      "API-retrieve-a-database": notion("databases/{database_id}"),
      "API-list-data-source-templates": notion("data_sources/{data_source_id}/templates"),
    },
  },
  "airtable-mcp-server": {
    version: "1.14.0",
    tools: {
      list_records: airtable("lists records"),
      search_records: airtable("lists records by a formula"),
      list_bases: airtable("lists bases"),
      list_tables: airtable("reads the schema of a base"),
      describe_table: airtable("reads the schema of a base"),
      get_record: airtable("reads a record"),
      list_comments: airtable("lists comments"),
    },
  },
  "tavily-mcp": {
    version: "0.2.22",
    tools: {
      tavily_search: [READ, "README, tavily-search: searches the web"],
      tavily_extract: [READ, "README, tavily-extract: extracts data from web pages"],
      tavily_map: [READ, "README, tools: makes a map of the pages of a website"],
    },
  },
  "exa-mcp-server": {
    version: "3.4.1",
    tools: {
      web_search_exa: [READ, "README, available tools: searches the web"],
      web_fetch_exa: [READ, "README, available tools: reads the content of web pages"],
    },
  },
  "@brave/brave-search-mcp-server": {
    version: "2.1.4",
    tools: {
      brave_web_search: brave("web/search"),
      brave_local_search: brave("web/search and local"),
      brave_video_search: brave("videos/search"),
      brave_image_search: brave("images/search"),
      brave_news_search: brave("news/search"),
      brave_summarizer: brave("summarizer/search"),
      brave_llm_context: brave("llm/context"),
    },
  },
  "@upstash/context7-mcp": {
    version: "4.1.1",
    tools: {
      "resolve-library-id": [READ, "README, available tools: finds the id of a library"],
      "query-docs": [READ, "tool description: retrieves documentation and code examples"],
    },
  },
  "mongodb-mcp-server": {
    version: "3.0.4",
    tools: {
      find: mongodb("runs a find query"),
      count: mongodb("counts documents"),
      "list-databases": mongodb("lists databases"),
      "list-collections": mongodb("lists collections"),
      "collection-schema": mongodb("describes the schema of a collection"),
      "collection-indexes": mongodb("describes the indexes of a collection"),
      "collection-storage-size": mongodb("gets the size of a collection"),
      "db-stats": mongodb("returns statistics of a database"),
    },
  },
  "@cyanheads/git-mcp-server": {
    version: "2.15.3",
    tools: {
      git_blame: git("traces authorship"),
      git_log: git("views the history"),
      git_reflog: git("views ref logs"),
      git_show: git("inspects objects"),
      git_status: git("checks the status"),
    },
  },
  "mcp-server-kubernetes": {
    version: "4.1.7",
    tools: {
      kubectl_get: kubectl("get"),
      kubectl_describe: kubectl("describe"),
      kubectl_logs: kubectl("logs"),
      explain_resource: kubectl("explain"),
      list_api_resources: kubectl("api-resources"),
    },
  },
  "@sentry/mcp-server": {
    version: "0.39.0",
    tools: {
      find_organizations: [READ, "tool description: finds organizations that the user has access to"],
      find_projects: [READ, "tool description: finds projects"],
      get_sentry_resource: [READ, "tool description: fetches a resource"],
    },
  },
  "firecrawl-mcp": {
    version: "3.26.0",
    tools: {
      firecrawl_map: [READ, "source: POST /v2/map only lists the addresses of a website"],
      firecrawl_check_crawl_status: get("/v2/crawl/…"),
      firecrawl_agent_status: get("/v2/agent/…"),
      firecrawl_monitor_list: get("/v2/monitor"),
      firecrawl_monitor_get: get("/v2/monitor/…"),
      firecrawl_monitor_checks: get("/v2/monitor/…/checks"),
      firecrawl_monitor_check: get("/v2/monitor/…/checks/…"),
      firecrawl_research_search_papers: get("…/papers"),
      firecrawl_research_inspect_paper: get("…/papers/…"),
      firecrawl_research_read_paper: get("…/papers/…"),
      firecrawl_research_related_papers: get("…/papers/…/similar"),
      firecrawl_developer_search: get("the search for developers"),
    },
  },
  // Its other reads write a file when an argument names one.
  "@playwright/mcp": {
    version: "0.0.83",
    tools: {
      browser_wait_for: [READ, "README, tools: waits for a text or a time, read-only"],
      browser_resize: [REPEATABLE, "README, tools: sets the size of the browser window"],
    },
  },
  "chrome-devtools-mcp": {
    version: "1.11.0",
    tools: {
      list_pages: chrome("pages.js lists the open pages"),
      list_console_messages: chrome("console.js lists messages that were collected"),
      get_console_message: chrome("console.js shows a message that was collected"),
      list_network_requests: chrome("network.js lists requests that were collected"),
      get_css_styles: chrome("css.js reads the rules of an element"),
    },
  },
  "@wonderwhy-er/desktop-commander": {
    version: "0.2.52",
    tools: {
      list_directory: desktop("filesystem.js lists by readdir"),
      get_file_info: desktop("filesystem.js reads by stat"),
      list_processes: desktop("process.js lists the processes of the system"),
      create_directory: [REPEATABLE, "source, dist/tools: filesystem.js, mkdir with recursive"],
    },
  },
};
