import type { RequestRecord } from "../api/request-record.ts";
import type { ToolRecord } from "../api/tools.ts";
import type { CommandLine } from "./command-line.ts";

/** The input of a report. */
export interface DebugFacts {
  /** The request with everything that reports show. */
  request: RequestRecord;
  /** The tools that are offered now; empty when they could not be read. */
  tools: readonly ToolRecord[];
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  command: CommandLine;
}

/** The name of the server that offers a tool now. */
export function serverOf({ tools }: Pick<DebugFacts, "tools">, tool: string): string | undefined {
  return tools.find(({ name }) => name === tool)?.server;
}
