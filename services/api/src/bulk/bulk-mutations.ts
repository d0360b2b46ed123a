import {
  CANCELLABLE_REQUEST_STATUSES,
  canonicalDigest,
  ENDED_REQUEST_STATUSES,
  FAILED_REQUEST_STATUSES,
  type RequestStatus,
} from "@planwright/plan";
import { toIdempotency } from "../arguments/idempotency.ts";
import { parseStepId } from "../arguments/parse-ids.ts";
import { StateConflictError } from "../errors/plan-errors.ts";
import type { OperationContext } from "../operation/context.ts";
import { rerun } from "../plans/rerun.ts";
import { cancelRequest, checkCancel } from "../requests/cancel.ts";
import { type BulkAnswer, changeRequests } from "./change-requests.ts";
import type { SelectionInput } from "./select-requests.ts";

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
