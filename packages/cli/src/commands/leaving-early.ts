import type { ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { printError } from "./print-error.ts";

/**
 * Waits for a request. When the wait ends early, prints that the request continues and how to follow it
 * again.
 */
export async function leavingEarly(
  { output, isJson, command }: CommandContext,
  requestId: string,
  wait: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await wait();
  } catch (error) {
    const instruction = "The request continues without this program. To follow it again:";
    return printError(error, {
      output,
      isJson,
      next: [{ instruction, command: command("watch", requestId) }],
    });
  }
}
