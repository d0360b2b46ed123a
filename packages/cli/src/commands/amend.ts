import { randomUUID } from "node:crypto";
import { READ_RUN } from "@planwright/client";
import { AMEND_PLAN } from "../api/mutations.ts";
import { UsageError } from "../errors.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { acceptingRepeats } from "./confirm.ts";
import { followToEnd } from "./follow-to-end.ts";
import { readJsonFile } from "./read-json-file.ts";

/** The options of `amend`. */
export interface AmendOptions {
  /** A file with a JSON Patch for the plan. */
  patch?: string;
  /** The number of the earlier version to restore. */
  restore?: number;
  /** The version that the user looked at. */
  fromVersion?: number;
  /** Ids of steps that may be called once more although they acted or may have acted. */
  repeat?: string[];
  execute?: boolean;
  watch?: boolean;
}

/**
 * Replaces the plan of a request, if it has ended or was not started, by the plan in a file or of an earlier
 * version, or changes it by a patch. Prints which effects are repeated and which are not.
 * @throws {UsageError} for a file that cannot be read, and unless exactly one of file, patch and version is
 * given
 */
export async function amend(
  context: CommandContext,
  { requestId, file }: { requestId: string; file: string | undefined },
  { patch, restore, fromVersion, repeat, execute = false, watch }: AmendOptions,
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  if ([file, patch, restore].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError(
      "Give a file with the complete plan, or --patch with a file of changes (JSON Patch), or --restore with an earlier version",
    );
  }
  const seen = fromVersion ?? (patch === undefined ? null : await currentVersion(context, requestId));
  const content = restore === undefined ? await readJsonFile(patch ?? file ?? "-", signal) : null;
  const given = patch === undefined ? { plan: content } : { patch: content };
  const variables = {
    requestId,
    ...given,
    restoreVersion: restore ?? null,
    fromVersion: seen,
    execute,
    key: randomUUID(),
  };
  const { amended } = await acceptingRepeats(context, repeat ?? [], (acceptRepeat) =>
    client.execute(AMEND_PLAN, { ...variables, acceptRepeat }),
  );
  if (watch) return followToEnd(context, requestId);
  if (isJson) {
    output.printJson(amended, { isIndented: true });
    return EXIT.OK;
  }
  const { request, carried, repeated, notRepeated } = amended;
  const state = execute ? "is executed" : "waits to be started";
  output.print([
    `${requestId}: version ${request.version} of the plan was made and ${state}`,
    ...stepList("kept, and not called again", carried),
    ...stepList("effects that are not repeated", notRepeated),
    ...stepList("effects that are repeated, or made with other arguments", repeated),
  ]);
  output.note([
    execute
      ? `To follow it:  ${command("watch", requestId)}`
      : `To start it:  ${command("execute", requestId)}`,
  ]);
  return EXIT.OK;
}

function stepList(title: string, ids: readonly string[] | null): string[] {
  return ids && ids.length > 0 ? [`  ${title}: ${ids.join(", ")}`] : [];
}

/** The version that a patch is for when the user names none. */
async function currentVersion({ client }: CommandContext, requestId: string): Promise<number> {
  return (await client.readRequest(READ_RUN, requestId)).version;
}
