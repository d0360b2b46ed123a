import type { ToolServerDocument } from "@planwright/store";

/** A tool server as clients see it. */
export interface ServerView {
  name: string;
  state: Uppercase<ToolServerDocument["state"]>;
  tools: number;
  error: string | null;
  lastWords: string | null;
  since: Date;
  nextAttemptAt: Date | null;
}

const STATES = { connected: "CONNECTED", connecting: "CONNECTING", unreachable: "UNREACHABLE" } as const;

/**
 * The public side of what an executor says of a server. Pure.
 * @param mayReadWords - the caller operates the system: what a server writes is the operator's, and may tell more than its author meant
 */
export function toServerView(
  { server, state, tools, error, lastWords, since, nextAttemptAt }: ToolServerDocument,
  mayReadWords: boolean,
): ServerView {
  const words = mayReadWords ? lastWords : null;
  return { name: server, state: STATES[state], tools, error, lastWords: words, since, nextAttemptAt };
}
