import {
  CANCELLABLE_REQUEST_STATUSES,
  canonicalDigest,
  ENDED_REQUEST_STATUSES,
  FAILED_REQUEST_STATUSES,
  type RequestStatus,
  STARTED_REQUEST_STATUSES,
} from "@planwright/plan";
import { redactText } from "@planwright/runtime";
import { type RequestDocument, type RequestFilter, toCursor } from "@planwright/store";
import { type FilterArgument, parseFilter } from "../arguments/parse-filter.ts";
import { parseRequestId, parseStepId, toIdempotency } from "../arguments/text.ts";
import {
  type ApiError,
  BadInputError,
  RequestNotFoundError,
  StateConflictError,
} from "../errors/api-error.ts";
import { knownError } from "../errors/format-error.ts";
import { MAX_PAGE, parsePage } from "../operation/connection.ts";
import type { OperationContext } from "../operation/context.ts";
import { cancelRequest, checkCancel, checkResume, isResumable, resumeRequest } from "./pause.ts";
import { rerun } from "./rerun.ts";

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

/** Resumes the plans of many requests that are paused. @throws {BadInputError | CursorInvalidError} */
export function resumeRequests(context: OperationContext, input: SelectionInput): Promise<BulkAnswer> {
  return changeRequests(context, input, {
    statuses: STARTED_REQUEST_STATUSES,
    be: "be resumed",
    async selects(requests) {
      const planIds = requests.map(({ planId }) => planId);
      const plans = await context.store.getPlanHeads(context.tenant, planIds);
      return requests.filter((_, index) => isResumable(plans[index]));
    },
    async change(request, { version, dryRun }) {
      if (request.version !== version) throw otherVersion(request, version);
      if (!dryRun) return resumeRequest(context, request._id);
      await checkResume(context, request);
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
   * Of the requests in these statuses, those that a filter selects, in order: for a change that depends on the plan.
   * Default: all.
   */
  selects?: (requests: RequestDocument[]) => Promise<RequestDocument[]>;
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
interface BulkAnswer {
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
/** Most requests that one call with a filter looks at, as a list with `calledTool` does. */
const MAX_LOOKED_AT = 1_000;

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

/** Arguments of a bulk mutation that select requests. */
export interface SelectionInput {
  filter?: FilterArgument | null;
  /** Requests as an earlier answer listed them. */
  requests?: readonly SeenRequest[] | null;
  dryRun: boolean;
  /** Cursor after the last answer for the same filter. */
  after?: string | null;
}

/** A request, and the version of its plan that the client has seen. */
interface SeenRequest {
  requestId: string;
  version: number;
}

/** A selected request; `request` is null for an unknown id. */
interface SelectedRequest extends SeenRequest {
  request: RequestDocument | null;
}

/** The selected requests, and the cursor after them. */
interface Selection {
  selected: SelectedRequest[];
  hasMore: boolean;
  endCursor: string | null;
}

/**
 * The requests that a bulk mutation selects: the first 100 that match a filter, or those that the client
 * names. Only a dry run takes a filter, so nothing is changed that the client has not seen.
 * @throws {BadInputError | CursorInvalidError}
 */
async function selectRequests(
  context: OperationContext,
  { filter = null, requests = null, dryRun, after = null }: SelectionInput,
  action: BulkAction,
): Promise<Selection> {
  if ((filter === null) === (requests === null)) {
    throw new BadInputError(
      "requests",
      "A bulk mutation needs exactly one of filter and requests",
      "Give filter with dryRun: true to see which requests match; then give requests, as results of the answer name them.",
    );
  }
  if (requests) return findSeen(context, requests);
  if (!dryRun) {
    throw new BadInputError(
      "filter",
      "With a filter nothing is changed: it may match other requests than those that the client has seen",
      "First call it with dryRun: true, then with dryRun: false and requests: the requestId and version of each result.",
    );
  }
  const page = parsePage({ first: MAX_PAGE, after }, "requests");
  let { after: from } = page;
  const wanted = narrowed(parseFilter(filter, undefined), action);
  const selected: SelectedRequest[] = [];
  let endCursor: string | null = null;
  let isLast = false;
  for (let lookedAt = 0; selected.length < page.first && lookedAt < MAX_LOOKED_AT && !isLast; ) {
    const first = page.first - selected.length;
    const found = await context.store.listRequests(context.tenant, { first, after: from, filter: wanted });
    const fitting = action.selects ? await action.selects(found.items) : found.items;
    selected.push(
      ...fitting.map((request) => ({ requestId: request._id, version: request.version, request })),
    );
    const last = found.items.at(-1);
    endCursor = found.cursor ?? (last ? toCursor({ createdAt: last.createdAt, id: last._id }) : endCursor);
    from = found.cursor ?? undefined;
    isLast = from === undefined;
    lookedAt += first;
  }
  return { selected, hasMore: !isLast, endCursor };
}

/** @throws {BadInputError} */
async function findSeen(
  { store, tenant }: OperationContext,
  requests: readonly SeenRequest[],
): Promise<Selection> {
  if (requests.length === 0 || requests.length > MAX_PAGE) {
    throw refused(`${requests.length} requests are given`, `Give 1 to ${MAX_PAGE} at once.`);
  }
  const seen = requests.map(({ requestId, version }) => ({ requestId: parseRequestId(requestId), version }));
  const odd = seen.find(({ version }) => version < 1);
  if (odd) {
    throw refused(
      `version of ${odd.requestId} is ${odd.version}, and versions count from 1`,
      "Give the version of the request as it was read.",
    );
  }
  const ids = seen.map(({ requestId }) => requestId);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice) throw refused(`${twice} is given twice`, "Give each request once.");
  const found = await Promise.all(ids.map((id) => store.getRequest(tenant, id)));
  return {
    selected: seen.map((one, index) => ({ ...one, request: found[index] ?? null })),
    hasMore: false,
    endCursor: null,
  };
}

/**
 * The filter without statuses in which the change is not possible.
 * @throws {BadInputError} when none is left
 */
function narrowed(
  filter: RequestFilter,
  { statuses, be }: { statuses: readonly RequestStatus[]; be: string },
): RequestFilter {
  const wanted = filter.status ?? statuses;
  const status = wanted.filter((one) => statuses.includes(one));
  if (status.length > 0) return { ...filter, status };
  throw new BadInputError(
    "filter.status",
    `A request that is ${wanted.join(" or ")} cannot ${be}`,
    `Leave status out, or give some of ${statuses.join(", ")}.`,
  );
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("requests", message, remedy);
}
