import { graphql, type ResultOf } from "@planwright/client";

const TOOL = graphql(`
  fragment Tool on Tool {
    name server title description category inputSchema outputSchema observedOutput { outputs schema } annotations contract
  }
`);
const EXPLAINED_TOOL = graphql(
  `fragment ExplainedTool on Tool {
    ...Tool
    contractReport { fields { name value source why } problems }
    listedAt disconnectedSince
    calls { since count failures p50Ms p99Ms lastAt errors { code count } }
  }`,
  [TOOL],
);
const TOOL_SERVER = graphql(`
  fragment ToolServer on ToolServer {
    name state tools leftOut { tool reason } leftOutCount error stderrTail since nextAttemptAt
  }
`);

const LISTED_TOOL = graphql(
  `fragment ListedTool on Tool { ...Tool contractReport { fields { name source } problems } }`,
  [TOOL],
);

/** A tool that plans may use. */
export type ToolRecord = ResultOf<typeof TOOL>;
/** The same with the sources of its contract. */
export type ListedTool = ResultOf<typeof LISTED_TOOL>;
/** The same with the reasons for its contract, and how its recent calls ended. */
export type ExplainedTool = ResultOf<typeof EXPLAINED_TOOL>;
/** A tool server and its connection. */
export type ToolServer = ResultOf<typeof TOOL_SERVER>;

/** The tools that plans may use. */
export const LIST_TOOLS = graphql(`{ tools: getAvailableTools { ...Tool } }`, [TOOL]);
/** The same with the reasons for their contracts and how their recent calls ended, and the left-out tools. */
export const EXPLAIN_TOOLS = graphql(
  `{ tools: getAvailableTools { ...ExplainedTool } toolServers { name leftOut { tool reason } } }`,
  [EXPLAINED_TOOL],
);
/** The tools that plans may use with the sources of their contracts, and all tool servers. */
export const LIST_TOOLS_AND_SERVERS = graphql(
  `{ tools: getAvailableTools { ...ListedTool } toolServers { ...ToolServer } }`,
  [LISTED_TOOL, TOOL_SERVER],
);

/** The tools that plans may use, and how their recent calls ended. */
export const LIST_CALLS = graphql(`{
  tools: getAvailableTools { name server calls { since count failures p50Ms p99Ms lastAt errors { code count } } }
}`);
/** A tool and how its recent calls ended. */
export type CalledTool = ResultOf<typeof LIST_CALLS>["tools"][number];

/** Asks all executors to connect to a tool server anew. */
export const RELOAD_SERVER = graphql(`
  mutation ($name: String!) {
    reload: reloadToolServer(name: $name) { name executors { executor outcome reason stderrTail } }
  }
`);
/** Suggests contracts, and asks a model if there is one. */
export const SUGGEST_CONTRACTS = graphql(`
  mutation ($server: String!) {
    suggested: suggestContracts(server: $server) {
      server state note tools { tool fields { field value reason source against } }
    }
  }
`);
/** Suggested contracts of a server's tools. */
export type ContractSuggestions = ResultOf<typeof SUGGEST_CONTRACTS>["suggested"];
/** How the executors reloaded a server. */
export type ServerReload = ResultOf<typeof RELOAD_SERVER>["reload"];
