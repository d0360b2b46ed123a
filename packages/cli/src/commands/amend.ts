import { randomUUID } from "node:crypto";
import { sendAgain } from "@planwright/client";
import { AMEND_PLAN } from "../api/mutations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";
import { readJsonFile } from "./read-json-file.ts";

/** What was typed beside it. */
export interface AmendOptions {
  execute?: boolean;
  watch?: boolean;
}

/**
 * Replaces a request's plan that has ended or was not started by the plan in a file. Prints which effects are
 * repeated, and which are not.
 * @throws {UsageError} for a file that cannot be read
 */
export async function amend(
  context: CommandContext,
  { requestId, file }: { requestId: string; file: string },
  { execute = false, watch }: AmendOptions,
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  const plan = await readJsonFile(file, signal);
  const variables = { requestId, plan, execute, key: randomUUID() };
  const { amended } = await sendAgain(() => client.execute(AMEND_PLAN, variables), { signal, isKeyed: true });
  if (watch) return followToEnd(context, requestId);
  if (isJson) {
    output.printJson(amended, { isIndented: true });
    return EXIT.OK;
  }
  const { request, carried, repeated, notRepeated } = amended;
  const state = execute ? "is executed" : "waits to be started";
  output.print([
    `${requestId}: version ${request.version} of the plan was made and ${state}`,
    ...told("kept, and not called again", carried),
    ...told("effects that are not repeated", notRepeated),
    ...told("effects that are repeated", repeated),
  ]);
  output.note([
    execute
      ? `To follow it:  ${command("watch", requestId)}`
      : `To start it:  ${command("execute", requestId)}`,
  ]);
  return EXIT.OK;
}

function told(what: string, ids: readonly string[] | null): string[] {
  return ids && ids.length > 0 ? [`  ${what}: ${ids.join(", ")}`] : [];
}
