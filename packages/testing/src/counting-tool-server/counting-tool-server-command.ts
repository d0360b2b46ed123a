import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ScriptInput } from "./behaviour.ts";

/** Options of the counting server as a separate process. */
export interface CountingToolServerCommandOptions {
  ledgerFile: string;
  /** File for every call and its answer, with and without effects; absent: no file. */
  callsFile?: string | undefined;
  /** True: also the tools for lists. */
  lists?: boolean | undefined;
  /**
   * True: speaks MCP over standard input and output. False: listens, and prints one line of JSON `{url, port,
   * pid}`.
   */
  stdio?: boolean | undefined;
  port?: number | undefined;
  script?: ScriptInput | undefined;
  /** The program for Node, such as a bundle; absent: the source or build of this module. */
  main?: string | undefined;
}

/** The command line of the counting server, for `spawn` or for a stdio server in a servers file. */
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
