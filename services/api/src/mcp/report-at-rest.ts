import type { ServerContext } from "@modelcontextprotocol/server";
import { type StepRun, stepAdvice } from "@planwright/engine";
import {
  type JsonObject,
  type JsonValue,
  planningAdvice,
  type RequestId,
  stepNeedsPerson,
} from "@planwright/plan";
import type { PlanHead } from "@planwright/store";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors/api-error.ts";
import { isAtRest, type RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type PlanOutputs, readPlanOutputs } from "../operation/plan-outputs.ts";
import { toJson } from "../operation/reads.ts";
import { settlementOf } from "../plans/step-views.ts";

/** Options of {@link reportAtRest}. */
interface ReportOptions {
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

/** A progress notification. */
interface Progress {
  progress: number;
  /** At least `progress`; absent before there is a plan. */
  total?: number;
  message: string;
}

/**
 * The progress of one request for MCP, where the value must rise with every notification. A state without
 * more ended steps raises it half of the way to the next integer. Steps of an earlier version stay counted.
 * Null for a state that was already reported, or that cannot raise the value.
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/progress
 */
export function createRisingProgress(): (state: RequestSnapshot) => Progress | null {
  let last = -1;
  let lastMessage = "";
  let planId: string | undefined;
  let earlier = 0;
  return (state) => {
    const { done, total, message } = progressOf(state);
    if (planId !== undefined && planId !== state.request.planId) {
      earlier = Math.max(0, Math.floor(last));
      lastMessage = "";
    }
    planId = state.request.planId;
    const counted = earlier + done;
    if (counted <= last && message === lastMessage) return null;
    const progress = counted > last ? counted : (last + Math.floor(last) + 1) / 2;
    const most = total > 0 ? earlier + total : undefined;
    if (progress <= last || progress > (most ?? Number.POSITIVE_INFINITY)) return null;
    last = progress;
    lastMessage = message;
    return { progress, ...(most === undefined ? {} : { total: most }), message };
  };
}

/** Options of {@link untilAtRest}. */
interface FollowOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
  /** True for the state that ends the wait. Default: {@link isAtRest}. */
  isLast?: ((state: RequestSnapshot) => boolean) | undefined;
  /** Called for each other state; the next state waits for it. */
  onState?: ((state: RequestSnapshot) => Promise<void>) | undefined;
}

/**
 * Follows a request until it has ended, waits for a person, or the timeout has passed. Later reads of the
 * operation use the returned state.
 * @throws {OverloadedError} when too many requests are followed
 */
async function untilAtRest(
  { feeds, tenant, reads }: Pick<GraphqlContext, "feeds" | "tenant" | "reads">,
  requestId: RequestId,
  { waitMs, signal, isLast = isAtRest, onState }: FollowOptions,
): Promise<RequestSnapshot | undefined> {
  const states = await feeds.follow(tenant, requestId);
  const stop = (): void => void states.return?.();
  const timer = setTimeout(stop, waitMs);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  let last: RequestSnapshot | undefined;
  try {
    for await (const state of states) {
      last = state;
      if (isLast(state)) break;
      await onState?.(state);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
  if (last) reads.primeSnapshot(last);
  return last;
}

/** Most warnings of steps in one report. */
const MAX_WARNINGS = 20;

/** Progress of a request. */
interface RequestProgress {
  done: number;
  total: number;
  message: string;
}

/** Counts ended steps. Pure. */
function progressOf({ request, plan, steps }: RequestSnapshot): RequestProgress {
  const withoutItems = steps.filter(({ item }) => item === null);
  const done = withoutItems.filter(({ finishedAt }) => finishedAt !== null).length;
  const running = withoutItems.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
  const now = running.length > 0 ? `, now ${running.join(", ")}` : "";
  return { done, total: withoutItems.length, message: `${plan?.status ?? request.status}${now}` };
}

/**
 * A request as the result of a tool: ids, status, requested outputs, failures, and the decisions that it
 * needs, without the plan. Pure.
 * @param outputs - outputs of a plan that has ended
 */
function reportOf({ request, plan, steps }: RequestSnapshot, outputs: PlanOutputs | null): JsonObject {
  const failed = steps.filter(({ item, status }) => item === null && status === "FAILED").map(toFailure);
  const open = steps.filter(({ status }) => stepNeedsPerson(status));
  const report: JsonObject = {
    requestId: request._id,
    planId: request.planId,
    status: request.status,
    outputs: Object.fromEntries([...(outputs ?? [])].map(([name, kept]) => [name, toJson(kept)])),
  };
  if (request.error) report["error"] = toProblem(request.error, planningAdvice(request.error.code));
  else if (plan?.error) report["error"] = toProblem(plan.error, stepAdvice(plan.error.code));
  if (failed.length > 0) report["failedSteps"] = failed;
  const skipped = steps.filter(({ item, status }) => item === null && status === "SKIPPED").map(toFailure);
  if (skipped.length > 0) report["skippedSteps"] = skipped;
  const warnings = steps.flatMap(({ key, warnings: texts }) => texts.map((message) => ({ key, message })));
  if (warnings.length > 0) report["warnings"] = warnings.slice(0, MAX_WARNINGS);
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  const settled = plan ? steps.flatMap((step) => settledOf(plan, step)) : [];
  if (settled.length > 0) report["settledByOperators"] = settled;
  if (request.status === "NEEDS_INPUT") {
    report["questions"] = request.questions.map(({ question }) => question);
  }
  if (request.answer) report["answer"] = request.answer;
  return report;
}

/** The decision of an operator that gave a step its status. */
function settledOf(plan: PlanHead, step: StepRun): JsonValue[] {
  const settled = settlementOf(plan, step);
  return settled ? [{ key: step.key, resolution: settled.resolution, by: settled.by }] : [];
}

function toFailure(step: StepRun): JsonValue {
  const { key, tool, error, effect } = step;
  const { code, message } = error ?? { code: "FAILED", message: "" };
  const advice = stepAdvice(code, undefined, step);
  return { key, tool, ...(effect && { effect }), ...toProblem({ code, message }, advice) };
}

function toProblem({ code, message }: { code: string; message: string }, { remedy }: { remedy: string }) {
  return { code, message, remedy };
}
