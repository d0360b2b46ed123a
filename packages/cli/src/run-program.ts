import type { Readable } from "node:stream";
import { createClient } from "@planwright/client";
import { CommanderError } from "commander";
import type { CommandContext } from "./commands/command-context.ts";
import { printError } from "./commands/print-error.ts";
import { createProgram } from "./program.ts";
import type { GlobalOptions } from "./program-options.ts";
import { EXIT, type ExitCode, GaveUpWaitingError, InterruptedError } from "./report/exit-code.ts";
import { createCommandLine } from "./report/format.ts";
import { createOutput, type OutputStream, visibleText } from "./terminal.ts";

/** What the program uses of its process. */
export interface ProgramHost {
  env: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  stdout: OutputStream;
  stderr: OutputStream;
  /** The exit code, once the program ends by itself. */
  exitCode?: string | number | null | undefined;
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  exit(code?: string | number | null): never;
}

/** A pipe whose other end is closed, or a terminal whose window is. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "EIO";
}

/**
 * Runs the command that the user typed, until it has ended.
 * @param args - behind the name of the program
 */
export async function runProgram(
  args: readonly string[],
  { version, host }: { version: string; host: ProgramHost },
): Promise<void> {
  const { env, stdin, stdout, stderr } = host;
  const output = createOutput(stdout, stderr, env);

  // The reader has closed the pipe, as `head` does. A system on this machine goes on, and ends in order.
  let isLocal = false;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isLocal && isReaderGone(error)) return;
    if (error.code === "EPIPE") host.exit(host.exitCode ?? EXIT.OK);
    throw error;
  });
  // Notes that are not read, as below `2>&1 | head`, change neither the command nor its exit code.
  stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error)) throw error;
  });

  const stopping = new AbortController();

  async function perform(
    options: GlobalOptions,
    isUrlGiven: boolean,
    command: (context: CommandContext) => Promise<ExitCode>,
  ): Promise<void> {
    const { url, token, timeout, json: isJson = false } = options;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      host.on(signal, () => {
        // The second signal ends the process at once.
        if (stopping.signal.aborted) host.exit(signal === "SIGINT" ? EXIT.INTERRUPTED : EXIT.TERMINATED);
        stopping.abort(new InterruptedError(signal));
      });
    }
    if (timeout !== undefined) {
      setTimeout(() => stopping.abort(new GaveUpWaitingError(timeout)), timeout).unref();
    }
    const { signal } = stopping;
    const context: CommandContext = {
      client: createClient({ url, token, signal }),
      stdin,
      output,
      isJson,
      canAsk: !isJson && stdin.isTTY === true && output.isTerminal,
      command: createCommandLine({
        program: env["npm_command"] === "exec" ? "npx planwright" : "planwright",
        url: isUrlGiven ? url : undefined,
      }),
      signal,
      now: Date.now,
    };
    try {
      host.exitCode = await command(context);
    } catch (error) {
      host.exitCode = printError(error, { output, isJson });
    }
  }

  const program = createProgram({
    version,
    perform,
    // Loaded when it is needed: it has the drivers of both databases.
    performLocally: async (command) => {
      isLocal = true;
      return command(await import("@planwright/local"));
    },
    print: (text) => void stdout.write(text),
  });
  program.exitOverride().configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(visibleText(text)),
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    host.exitCode = error.exitCode === 0 ? EXIT.OK : EXIT.USAGE;
  }
}
