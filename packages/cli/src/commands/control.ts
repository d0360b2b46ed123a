import { randomUUID } from "node:crypto";
import { ENDED, READ_RUN, sendAgain } from "@planwright/client";
import {
  type Accepted,
  AMEND_PLAN,
  CANCEL,
  EXECUTE_PLAN,
  PAUSE,
  READ_PLAN_HASH,
  REPLAN,
  RERUN,
  RESUME,
} from "../operations.ts";
import { EXIT, type ExitCode, NothingChangedError, UsageError } from "../report/exit-code.ts";
import { planningText } from "../report/format.ts";
import { acceptingRepeats, act } from "./act.ts";
import { readJsonFile } from "./ask-plan.ts";
import type { CommandContext } from "./command-context.ts";
import { type SetArgument, toChanges } from "./decide.ts";
import { followToEnd, leavingEarly, showResult } from "./follow-to-end.ts";

/** The options of `execute`. */
export interface ExecuteOptions {
  detach?: boolean;
  /** The first 8 or more characters of the plan's hash. */
  hash?: string;
}

/**
 * Starts a plan that was not started; with `hash` only the plan with that hash. A plan that already runs is
 * followed; with `detach` it is an error, because nothing was started.
 * @throws {UsageError} for the hash of another plan
 */
export async function execute(
  context: CommandContext,
  requestId: string,
  { detach, hash }: ExecuteOptions,
): Promise<ExitCode> {
  const planHash = hash === undefined ? null : await fullHash(context, requestId, hash);
  const { plan, status } = await context.client.readRequest(READ_RUN, requestId);
  const isRunning = status === "EXECUTING" && plan !== null;
  if (isRunning && detach) {
    throw new NothingChangedError(
      `The plan was started before and is ${plan.status}: nothing was started now`,
    );
  }
  return act(context, {
    operation: EXECUTE_PLAN,
    variables: { requestId, hash: planHash },
    done: (accepted) =>
      accepted.status === "PLANNING" ? "starts as soon as its plan is made" : "execution started",
    watch: !detach,
  });
}

/** The full hash of the current plan. @throws {UsageError} if it does not begin with what the user typed */
async function fullHash(
  { client, command }: CommandContext,
  requestId: string,
  typed: string,
): Promise<string> {
  const { plan } = await client.readRequest(READ_PLAN_HASH, requestId);
  const planHash = plan?.planHash ?? "";
  if (typed.length >= 8 && planHash.startsWith(typed)) return planHash;
  throw new UsageError(
    planHash === ""
      ? `${requestId} has no plan that can be executed: nothing was started`
      : `The hash is not the one of version ${plan?.version} of the plan, or has fewer than 8 characters: nothing was started. Look at the plan with ${command("debug", requestId)}; its hash begins with ${planHash.slice(0, 12)}`,
  );
}

/** The options of `retry`. */
export interface RetryOptions {
  from?: string;
  set?: SetArgument[];
  /** Ids of steps that may be called once more although they acted or may have acted. */
  repeat?: string[];
  watch?: boolean;
}

/**
 * Runs again the steps that did not complete, with the arguments that were set. A sentence whose planning failed
 * is planned again. It has an idempotency key.
 */
export async function retry(
  context: CommandContext,
  requestId: string,
  { from, set, repeat, watch }: RetryOptions,
): Promise<ExitCode> {
  const changes = set && (await toChanges(context, requestId, set));
  return act(context, {
    operation: RERUN,
    variables: { requestId, from, arguments: changes, key: randomUUID() },
    repeat: repeat ?? [],
    done: ({ version, status }) =>
      status === "PLANNING"
        ? "it is planned again"
        : `version ${version} of the plan was made and is executed`,
    watch,
  });
}

/** Has a model plan the rest again, and prints whether it made another version. */
export async function replan(
  context: CommandContext,
  requestId: string,
  { note, watch }: { note?: string | undefined; watch?: boolean | undefined },
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  const variables = { requestId, note, key: randomUUID() };
  const { accepted } = await sendAgain(() => client.execute(REPLAN, variables), { signal, isKeyed: true });
  if (watch) return followToEnd(context, requestId);
  return leavingEarly(context, requestId, async () => {
    const { status, version } = await replanned(context, accepted);
    if (version === accepted.version) return showResult(context, requestId);
    if (isJson) output.printJson({ ...accepted, status, version }, { isIndented: true });
    else {
      output.print([`${requestId}: version ${version} of the plan was made and is ${status.toLowerCase()}`]);
      output.note([`To follow it:  ${command("watch", requestId)}`]);
    }
    return EXIT.OK;
  });
}

/** The request once the planner has made another version, or has failed to. */
async function replanned(
  { client, signal, output, isJson }: CommandContext,
  accepted: Accepted,
): Promise<{ status: string; version: number }> {
  let last: { status: string; version: number } = accepted;
  let isNoted = false;
  for await (const now of client.follow(accepted.requestId, { until: "end", wasAccepted: true, signal })) {
    last = now;
    if (now.status !== "PLANNING") break;
    if (now.waitReason !== null && !isNoted && !isJson) {
      isNoted = true;
      output.note([`Replan requested; ${planningText(now)}`]);
    }
  }
  return last;
}

/**
 * Ends a plan.
 * @throws {NothingChangedError} for a request that was cancelled before
 */
export async function cancel(
  context: CommandContext,
  requestId: string,
  { watch }: { watch?: boolean | undefined },
): Promise<ExitCode> {
  const { status, plan } = await context.client.readRequest(READ_RUN, requestId);
  if (status === "CANCELLED") {
    throw new NothingChangedError(`${requestId} was cancelled before: nothing was changed`);
  }
  // The API accepts a repeated cancel, so that a lost answer does not look like a refusal.
  const isRepeated = plan?.status === "CANCELLING";
  const asked = "running calls are asked to stop and have 5 s to end";
  return act(context, {
    operation: CANCEL,
    variables: { requestId },
    done: (accepted) => {
      if (ENDED.has(accepted.status)) return "cancelled";
      return isRepeated ? `cancel was requested before; ${asked}` : `cancel requested; ${asked}`;
    },
    watch,
    isEnd: true,
  });
}

/** Pauses a plan. */
export function pause(
  context: CommandContext,
  requestId: string,
  { watch }: { watch?: boolean | undefined },
): Promise<ExitCode> {
  return act(context, {
    operation: PAUSE,
    variables: { requestId },
    done: ({ plan }) =>
      plan?.status === "PAUSED"
        ? "paused"
        : "pause requested; running calls end first, and nothing more starts",
    watch,
  });
}

/** Resumes a paused plan. */
export function resume(
  context: CommandContext,
  requestId: string,
  { watch }: { watch?: boolean | undefined },
): Promise<ExitCode> {
  return act(context, { operation: RESUME, variables: { requestId }, done: () => "resumed", watch });
}

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
  const { client, output, isJson, command } = context;
  if ([file, patch, restore].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError(
      "Give a file with the complete plan, or --patch with a file of changes (JSON Patch), or --restore with an earlier version",
    );
  }
  const seen = fromVersion ?? (patch === undefined ? null : await currentVersion(context, requestId));
  const content = restore === undefined ? await readJsonFile(patch ?? file ?? "-", context) : null;
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
