import type { ToolServerDocument } from "@planwright/store";

/** A tool server for clients. */
export interface ServerView {
  name: string;
  state: Uppercase<ToolServerDocument["state"]>;
  tools: number;
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
  { server, state, tools, error, stderrTail, since, nextAttemptAt }: ToolServerDocument,
  mayReadTexts: boolean,
): ServerView {
  const tail = mayReadTexts ? stderrTail : null;
  return { name: server, state: STATES[state], tools, error, stderrTail: tail, since, nextAttemptAt };
}
