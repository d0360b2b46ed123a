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
  fragment ToolServer on ToolServer { name state tools error stderrTail since nextAttemptAt }
`);

/** A tool that plans may use. */
export type ToolRecord = ResultOf<typeof TOOL>;
/** The same with the reasons for its contract, and how its recent calls ended. */
export type ExplainedTool = ResultOf<typeof EXPLAINED_TOOL>;
/** A tool server and its connection. */
export type ToolServer = ResultOf<typeof TOOL_SERVER>;

/** The tools that plans may use. */
export const LIST_TOOLS = graphql(`{ tools: getAvailableTools { ...Tool } }`, [TOOL]);
/** The same with the reasons for their contracts, and how their recent calls ended. */
export const EXPLAIN_TOOLS = graphql(`{ tools: getAvailableTools { ...ExplainedTool } }`, [EXPLAINED_TOOL]);
/** The tools that plans may use, and all tool servers. */
export const LIST_TOOLS_AND_SERVERS = graphql(
  `{ tools: getAvailableTools { ...Tool contractReport { problems } } toolServers { ...ToolServer } }`,
  [TOOL, TOOL_SERVER],
);
