import type { ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject, RequestId } from "@planwright/plan";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors.ts";
import type { GraphqlContext } from "../graphql/context.ts";
import type { RequestSnapshot } from "../live/request-feed.ts";
import { isAtRest, reportOf } from "./request-report.ts";
import { createRisingProgress } from "./rising-progress.ts";

/** How a request is to be reported. */
export interface ReportSettings {
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
  parts: GraphqlContext,
  requestId: RequestId,
  { call, wait, waitMs, credentials }: ReportSettings,
): Promise<JsonObject> {
  const states = await parts.feeds.follow(parts.tenant, requestId);
  const stop = (): void => void states.return?.();
  const timer = setTimeout(stop, waitMs);
  call.mcpReq.signal.addEventListener("abort", stop, { once: true });
  let isCredentialOver = false;
  const leave = credentials.follow(parts.caller, () => {
    isCredentialOver = true;
    stop();
  });
  const tellProgress = progressTeller(call);
  let last: RequestSnapshot | undefined;
  try {
    for await (const state of states) {
      last = state;
      if (!wait || isAtRest(state)) break;
      await tellProgress(state);
    }
  } finally {
    clearTimeout(timer);
    leave();
    call.mcpReq.signal.removeEventListener("abort", stop);
    stop();
  }
  if (isCredentialOver) throw new UnauthenticatedError("over");
  if (!last) return { requestId };
  parts.reads.primeSnapshot(last);
  return reportOf(last, await parts.reads.wholeSteps(last.request.planId));
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
