import type { Readable } from "node:stream";
import type { Client } from "@planwright/client";
import type { CommandLine } from "../report/format.ts";
import type { Output } from "../terminal.ts";

/** The dependencies of commands. */
export interface CommandContext {
  client: Client;
  /** Read for a document that is named "-". */
  stdin: Readable;
  output: Output;
  /** True prints JSON and nothing else. */
  isJson: boolean;
  /** True when a person at a terminal can be asked. */
  canAsk: boolean;
  /** Makes the next commands for the user to type. */
  command: CommandLine;
  /** Aborted by Ctrl-C or --timeout: ends the command. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  now: () => number;
}
