import type { ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { tellError } from "./tell-error.ts";

/** Runs what waits for a request; when it ends early, says that the request goes on and how to follow it again. */
export async function leavingEarly(
  { output, isJson, command }: CommandContext,
  requestId: string,
  wait: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await wait();
  } catch (error) {
    const say = "What was asked for goes on without this program. To follow it again:";
    return tellError(error, { output, isJson, next: [{ say, command: command("watch", requestId) }] });
  }
}
