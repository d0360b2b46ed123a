import {
  CANCELLABLE_REQUEST_STATUSES,
  canonicalDigest,
  ENDED_REQUEST_STATUSES,
  FAILED_REQUEST_STATUSES,
  type RequestStatus,
} from "@planwright/plan";
import { redactText } from "@planwright/runtime";
import type { RequestDocument } from "@planwright/store";
import { toIdempotency } from "../arguments/idempotency.ts";
import { parseStepId } from "../arguments/parse-ids.ts";
import type { ApiError } from "../errors/api-error.ts";
import { knownError } from "../errors/known-error.ts";
import { RequestNotFoundError } from "../errors/not-found-errors.ts";
import { StateConflictError } from "../errors/plan-errors.ts";
import type { OperationContext } from "../operation/context.ts";
import { rerun } from "../plans/rerun.ts";
import { cancelRequest, checkCancel } from "../requests/cancel.ts";
import { type SelectedRequest, type SelectionInput, selectRequests } from "./select-requests.ts";

/** Arguments of the mutation retryFailedRequests. */
export interface BulkRerunInput extends SelectionInput {
  idempotencyKey?: string | null;
}

/** Cancels many requests. @throws {BadInputError | CursorInvalidError} */
export function cancelRequests(context: OperationContext, input: SelectionInput): Promise<BulkAnswer> {
  return changeRequests(context, input, {
    statuses: CANCELLABLE_REQUEST_STATUSES,
    be: "be cancelled",
    async change(request, { version, dryRun }) {
      if (request.version !== version) throw otherVersion(request, version);
      if (!dryRun) return cancelRequest(context, request._id);
      await checkCancel(context, request);
      return request;
    },
  });
}

/** Reruns many requests that have ended. @throws {BadInputError | CursorInvalidError} */
export function rerunRequests(
  context: OperationContext,
  input: BulkRerunInput & { from?: string | null },
): Promise<BulkAnswer> {
  const from = input.from === undefined || input.from === null ? null : parseStepId(input.from);
  const can = { statuses: ENDED_REQUEST_STATUSES, be: "run again" };
  return rerunAll(context, input, { ...can, from, operation: "rerunRequests" });
}

/** Reruns the incomplete steps of many requests that failed. @throws {BadInputError | CursorInvalidError} */
export function retryFailedRequests(context: OperationContext, input: BulkRerunInput): Promise<BulkAnswer> {
  const can = { statuses: FAILED_REQUEST_STATUSES, be: "be retried" };
  return rerunAll(context, input, { ...can, from: null, operation: "retryFailedRequests" });
}

interface Rerun {
  operation: string;
  from: string | null;
  statuses: readonly RequestStatus[];
  be: string;
}

function rerunAll(
  context: OperationContext,
  input: BulkRerunInput,
  { operation, from, statuses, be }: Rerun,
): Promise<BulkAnswer> {
  const key = toIdempotency(input.idempotencyKey, [])?.key;
  return changeRequests(context, input, {
    statuses,
    be,
    async change({ _id: requestId, version, status }, { version: fromVersion, dryRun }) {
      if (version === fromVersion && !statuses.includes(status)) {
        throw new StateConflictError(
          { requestId, status },
          `The request is ${status} and cannot ${be}: nothing was changed`,
          `Name only requests that are ${statuses.join(" or ")}.`,
        );
      }
      if (!dryRun) await context.reservePlan?.();
      // One key for each rerun; its length is limited.
      const idempotencyKey = key && !dryRun ? canonicalDigest([operation, key, requestId]) : null;
      return rerun(context, { requestId, from, fromVersion, idempotencyKey, dryRun, execute: true });
    },
  });
}

function otherVersion(
  { _id: requestId, status, version: currentVersion, planId }: Parameters<typeof checkCancel>[1],
  seen: number,
): StateConflictError {
  return new StateConflictError(
    { requestId, status, currentVersion, planId },
    `Version ${currentVersion} of the plan is current, and the call names version ${seen}: nothing was changed`,
    `Read version ${currentVersion}, and give it as version to change that version.`,
  );
}

/*
 * The same change of many requests. Each request is decided separately, as by the mutation for one request: a
 * refusal concerns only that request.
 */

/** A change that can be made to many requests. */
interface BulkAction {
  /** Statuses in which it is possible; a filter selects only requests in these. */
  statuses: readonly RequestStatus[];
  /** Its name for errors, such as "be cancelled". */
  be: string;
  /**
   * Changes one request, or, in a dry run, only finds out whether it would be refused.
   * @throws {ApiError} why it is refused
   */
  change(request: RequestDocument, seen: { version: number; dryRun: boolean }): Promise<RequestDocument>;
}

/** The result of the change of one request, or the expected result in a dry run. */
interface BulkResult {
  requestId: string;
  /** Null for an unknown id, as status and query. */
  version: number | null;
  status: RequestStatus | null;
  query: string | null;
  changed: boolean;
  error: { code: string; message: string; remedy: string; retryable: boolean } | null;
}

/** The answer of a bulk mutation. */
export interface BulkAnswer {
  dryRun: boolean;
  count: number;
  changed: number;
  refused: number;
  /** Of the refused: requests with a failed call that acted or may have acted. */
  mayRepeat: number;
  hasMore: boolean;
  endCursor: string | null;
  results: BulkResult[];
}

/** Requests that are changed at once. */
const AT_ONCE = 10;

/**
 * Makes a change to each selected request.
 * @throws {BadInputError | CursorInvalidError} for an invalid selection
 * @throws an unexpected error of one request, after the others that were started with it have ended
 */
async function changeRequests(
  context: OperationContext,
  input: SelectionInput,
  action: BulkAction,
): Promise<BulkAnswer> {
  const { selected, hasMore, endCursor } = await selectRequests(context, input, action);
  const results: BulkResult[] = [];
  for (let from = 0; from < selected.length; from += AT_ONCE) {
    const some = selected.slice(from, from + AT_ONCE);
    const ended = await Promise.allSettled(some.map((one) => changeOne(one, input.dryRun, action)));
    for (const one of ended) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
  }
  const changed = results.filter((result) => result.changed).length;
  const mayRepeat = results.filter(({ error }) => error?.code === "REPEAT_NOT_ACCEPTED").length;
  const counts = { count: results.length, changed, refused: results.length - changed, mayRepeat };
  return { dryRun: input.dryRun, ...counts, hasMore, endCursor, results };
}

async function changeOne(
  { requestId, version, request }: SelectedRequest,
  dryRun: boolean,
  action: BulkAction,
): Promise<BulkResult> {
  if (!request) return resultOf(requestId, null, new RequestNotFoundError(requestId));
  try {
    const after = await action.change(request, { version, dryRun });
    return resultOf(requestId, dryRun ? request : after, null);
  } catch (error) {
    const known = knownError(error);
    if (!known) throw error;
    return resultOf(requestId, request, known);
  }
}

function resultOf(requestId: string, request: RequestDocument | null, error: ApiError | null): BulkResult {
  return {
    requestId,
    version: request?.version ?? null,
    status: request?.status ?? null,
    query: request?.query ?? null,
    changed: error === null,
    error: error && {
      code: error.code,
      message: redactText(error.message),
      remedy: error.remedy,
      retryable: error.retryable,
    },
  };
}
