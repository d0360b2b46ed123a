import type { Client } from "@planwright/client";
import type { CommandLine } from "../report/command-line.ts";
import type { Output } from "../terminal/output.ts";

/** What commands work with. */
export interface CommandContext {
  client: Client;
  output: Output;
  /** True prints JSON and nothing else. */
  isJson: boolean;
  /** True when a person at a terminal can be asked. */
  canAsk: boolean;
  /** Next commands to type. */
  command: CommandLine;
  /** Ends everything: Ctrl-C, or --timeout. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  now: () => number;
}
