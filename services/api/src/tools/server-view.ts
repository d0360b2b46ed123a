import type { ToolServerDocument } from "@planwright/store";

/** A tool server for clients. */
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
 * The public fields of a tool server. Pure.
 * @param mayReadWords - true for operators: the output of a server may contain more than its author intended
 */
export function toServerView(
  { server, state, tools, error, lastWords, since, nextAttemptAt }: ToolServerDocument,
  mayReadWords: boolean,
): ServerView {
  const words = mayReadWords ? lastWords : null;
  return { name: server, state: STATES[state], tools, error, lastWords: words, since, nextAttemptAt };
}
