import type { ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject, RequestId } from "@planwright/plan";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors/api-errors.ts";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { readPlanOutputs } from "../outputs/plan-outputs.ts";
import { reportOf } from "./request-report.ts";
import { createRisingProgress } from "./rising-progress.ts";
import { untilAtRest } from "./until-at-rest.ts";

/** How a request is to be reported. */
export interface ReportOptions {
  /** Tells when the waiting has to end. */
  credentials: Pick<CredentialWatch, "follow">;
  call: ServerContext;
  /** Whether to wait until it is at rest. */
  wait: boolean;
  /** Longest that it is waited for, in milliseconds. */
  waitMs: number;
}

/**
 * Follows a request, telling its progress, until it is at rest or the time is over.
 * @throws {UnauthenticatedError} when the credential of the caller is over before that
 */
export async function reportAtRest(
  context: GraphqlContext,
  requestId: RequestId,
  { call, wait, waitMs, credentials }: ReportOptions,
): Promise<JsonObject> {
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  let isCredentialOver = false;
  const leave = credentials.follow(context.caller, () => {
    isCredentialOver = true;
    stop();
  });
  call.mcpReq.signal.addEventListener("abort", stop, { once: true });
  try {
    const last = await untilAtRest(context, requestId, {
      waitMs,
      signal: ending.signal,
      ...(!wait && { isLast: () => true }),
      onState: progressTeller(call),
    });
    if (isCredentialOver) throw new UnauthenticatedError("over");
    if (!last) return { requestId };
    return reportOf(last, await readPlanOutputs(last.request.planId, context));
  } finally {
    leave();
    call.mcpReq.signal.removeEventListener("abort", stop);
  }
}

/** Notifies the client of progress, if it asked for that. */
function progressTeller({ mcpReq }: ServerContext): (state: RequestSnapshot) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  const progressOf = createRisingProgress();
  return async (state) => {
    const progress = progressToken === undefined ? null : progressOf(state);
    if (!progress) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } });
  };
}
