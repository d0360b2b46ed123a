import type { ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject, RequestId } from "@planwright/plan";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors/access-errors.ts";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { readPlanOutputs } from "../outputs/plan-outputs.ts";
import { reportOf } from "./request-report.ts";
import { createRisingProgress } from "./rising-progress.ts";
import { untilAtRest } from "./until-at-rest.ts";

/** Options of {@link reportAtRest}. */
export interface ReportOptions {
  /** Ends the wait when the credential of the caller ends. */
  credentials: Pick<CredentialWatch, "follow">;
  call: ServerContext;
  /** Whether to wait until the request has ended or waits for a person. */
  wait: boolean;
  /** Longest wait, in milliseconds. */
  waitMs: number;
}

/**
 * Follows a request and reports its progress, until it has ended, waits for a person, or the timeout has
 * passed.
 * @throws {UnauthenticatedError} when the credential of the caller ends before that
 */
export async function reportAtRest(
  context: GraphqlContext,
  requestId: RequestId,
  { call, wait, waitMs, credentials }: ReportOptions,
): Promise<JsonObject> {
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  let hasCredentialEnded = false;
  const leave = credentials.follow(context.caller, () => {
    hasCredentialEnded = true;
    stop();
  });
  call.mcpReq.signal.addEventListener("abort", stop, { once: true });
  try {
    const last = await untilAtRest(context, requestId, {
      waitMs,
      signal: ending.signal,
      ...(!wait && { isLast: () => true }),
      onState: progressNotifier(call),
    });
    if (hasCredentialEnded) throw new UnauthenticatedError("ended");
    if (!last) return { requestId };
    return reportOf(last, await readPlanOutputs(last.request.planId, context));
  } finally {
    leave();
    call.mcpReq.signal.removeEventListener("abort", stop);
  }
}

/** Sends progress notifications to a client that requested them. */
function progressNotifier({ mcpReq }: ServerContext): (state: RequestSnapshot) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  const progressOf = createRisingProgress();
  return async (state) => {
    const progress = progressToken === undefined ? null : progressOf(state);
    if (!progress) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } });
  };
}
