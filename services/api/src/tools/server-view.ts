import type { LeftOutTool } from "@planwright/plan";
import type { ToolServerDocument } from "@planwright/store";

/** A tool server for clients. */
export interface ServerView {
  name: string;
  state: Uppercase<ToolServerDocument["state"]>;
  tools: number;
  leftOut: LeftOutTool[];
  leftOutCount: number;
  error: string | null;
  stderrTail: string | null;
  since: Date;
  nextAttemptAt: Date | null;
}

const STATES = { connected: "CONNECTED", connecting: "CONNECTING", unreachable: "UNREACHABLE" } as const;

/**
 * The public fields of a tool server. Pure.
 * @param mayReadTexts - true for operators: the output of a server may contain more than its author intended
 */
export function toServerView(
  { server, leftOut = [], leftOutCount = 0, ...document }: ToolServerDocument,
  mayReadTexts: boolean,
): ServerView {
  const { state, tools, error, stderrTail, since, nextAttemptAt } = document;
  return {
    name: server,
    state: STATES[state],
    tools,
    leftOut,
    leftOutCount,
    error,
    stderrTail: mayReadTexts ? stderrTail : null,
    since,
    nextAttemptAt,
  };
}
