import type { RequestRecord } from "../api/request-record.ts";
import type { ToolRecord } from "../api/tools.ts";
import type { CommandLine } from "./command-line.ts";

/** Everything that a report is made of. */
export interface DebugFacts {
  /** The full reading. */
  request: RequestRecord;
  /** The tools as they are offered now; empty when they could not be read. */
  tools: readonly ToolRecord[];
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  command: CommandLine;
}

/** Name of the server that offers a tool now. */
export function serverOf({ tools }: Pick<DebugFacts, "tools">, tool: string): string | undefined {
  return tools.find(({ name }) => name === tool)?.server;
}
