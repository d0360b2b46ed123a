import type { ToolSnapshot } from "../api/operations.ts";
import type { RequestSnapshot } from "../api/request-snapshot.ts";
import type { CommandLine } from "./command-line.ts";

/** Everything that a report is made of. */
export interface DebugFacts {
  /** The full reading. */
  request: RequestSnapshot;
  /** The tools as they are offered now; empty when they could not be read. */
  tools: readonly ToolSnapshot[];
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  command: CommandLine;
}

/** Name of the server that offers a tool now. */
export function serverOf({ tools }: Pick<DebugFacts, "tools">, tool: string): string | undefined {
  return tools.find(({ name }) => name === tool)?.server;
}
