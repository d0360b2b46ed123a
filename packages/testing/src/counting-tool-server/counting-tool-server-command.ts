import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ScriptInput } from "./behaviour.ts";

/** How to run the counting server as a separate process. */
export interface CountingToolServerCommandOptions {
  ledgerFile: string;
  /** Every call and its answer is written here, effects or not; absent: nowhere. */
  callsFile?: string | undefined;
  /** True: the tools for lists too. */
  lists?: boolean | undefined;
  /**
   * True: speak MCP over standard input and output. False: listen, and print one line of JSON `{url, port,
   * pid}`.
   */
  stdio?: boolean | undefined;
  port?: number | undefined;
  script?: ScriptInput | undefined;
  /** The program for Node, such as a bundle; absent: the source or build of this module. */
  main?: string | undefined;
}

/** The command line of the counting server, ready for `spawn` or for a stdio server of a servers file. */
export function countingToolServerCommand(options: CountingToolServerCommandOptions): {
  command: string;
  args: string[];
} {
  const isSource = options.main === undefined && import.meta.url.endsWith(".ts");
  const main = options.main ?? fileURLToPath(new URL(isSource ? "./main.ts" : "./main.js", import.meta.url));
  const loader = () => [
    "--import",
    createRequire(import.meta.url).resolve("tsx"),
    "-C",
    "@planwright/source",
  ];
  return {
    command: process.execPath,
    args: [
      ...(isSource ? loader() : []),
      main,
      "--ledger",
      options.ledgerFile,
      ...(options.callsFile === undefined ? [] : ["--calls", options.callsFile]),
      ...(options.lists ? ["--lists"] : []),
      ...(options.stdio ? ["--stdio"] : []),
      ...(options.port === undefined ? [] : ["--port", String(options.port)]),
      ...(options.script === undefined ? [] : ["--script", JSON.stringify(options.script)]),
    ],
  };
}
